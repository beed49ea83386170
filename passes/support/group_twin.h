#pragma once

// Moves collectives to another process group that has the same ranks and a separate stream.

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/graph/group_argument.h"
#include "core/pass/parameter.h"

namespace jointer {

// The parameter `suffix`, which is appended to a group's name for its twin. Error (usage): it is
// empty.
Result<std::string> twin_suffix(const Arguments& arguments);

// Moves the collective to the group named `twin`. If the current group is known and the
// collective's part of the graph lacks the twin, adds a copy of the current group, with `suffix`
// appended to its description.
void move_to_twin(Graph& graph, NodeId start, StringId twin, std::string_view suffix);

}  // namespace jointer
