#pragma once

// Names of process groups: the argument of a call that gives one, and the twins of groups. The
// Python package follows the same rules (groups.py).

#include <string_view>

#include "core/graph/graph.h"

namespace jointer {

// True if a string passed for the schema argument called `argument` is the name of a process group.
bool names_group(std::string_view argument);

// The argument of a call that is the group's name; null if no string names a group.
const Argument* group_argument(const Graph& graph, const Node& call);

// The group of a part that `name` is derived from, if it has `size` ranks: passes that copy a group
// append to its name, so that `0_fsdp_extra` is a twin of `0`. If there are several, returns the one
// with the longest name; if there is none, null.
const ProcessGroup* twin_of(const Graph& graph, const Part& part, std::string_view name,
                            std::int64_t size);

}  // namespace jointer
