#pragma once

// Finds the argument of a call that names its process group. The Python package follows the same
// rule (groups.py).

#include <string_view>

#include "core/graph/graph.h"

namespace jointer {

// True if a string passed for the schema argument called `argument` is the name of a process group.
bool names_group(std::string_view argument);

// The argument of a call that is the group's name; null if no string names a group.
const Argument* group_argument(const Graph& graph, const Node& call);

}  // namespace jointer
