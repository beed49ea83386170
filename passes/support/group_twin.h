#pragma once

// Moves collectives to another process group of the same ranks, which has its own stream.

#include <string_view>

#include "core/graph/graph.h"
#include "core/graph/group_argument.h"

namespace jointer {

// Moves the collective to the group `twin` (its name, interned). If the collective's part of the
// graph lacks that group, adds it as a copy of the collective's group with `suffix` appended to its
// label.
void move_to_twin(Graph& graph, NodeId start, StringId twin, std::string_view suffix);

}  // namespace jointer
