#pragma once

// The argument of a call that names its process group. The Python package follows the same rule
// (groups.py).

#include <string_view>

#include "core/graph/graph.h"

namespace jointer {

// True if a string that an operator's schema calls `argument` is the name of a process group.
bool names_group(std::string_view argument);

// The group's name among the arguments of a call; null if no string names one.
const Argument* group_argument(const Graph& graph, const Node& call);

}  // namespace jointer
