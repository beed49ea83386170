#pragma once

// Moving collectives into another process group of the same ranks: a stream of their own.

#include <string_view>

#include "core/graph/graph.h"

namespace jointer {

// The group's name among the arguments of a collective; null if it names none.
const Argument* group_argument(const Graph& graph, const Node& start);

// The collective runs in the group `twin`, made of its own group with the suffix behind name and
// label where its part does not have it yet. `twin`: the name, interned.
void move_to_twin(Graph& graph, NodeId start, StringId twin, std::string_view suffix);

}  // namespace jointer
