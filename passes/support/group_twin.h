#pragma once

// Moves collectives to another process group that has the same ranks and a separate stream.

#include <string_view>

#include "core/graph/graph.h"
#include "core/graph/group_argument.h"

namespace jointer {

// Moves the collective to the group named `twin`. If the collective's part of the graph lacks that
// group, adds a copy of the current group, with `suffix` appended to its label.
void move_to_twin(Graph& graph, NodeId start, StringId twin, std::string_view suffix);

}  // namespace jointer
