#pragma once

// Eliminates dead code as torch does. The top of dead_code.cpp states the rules.

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// True for a call that stays even if nothing reads its result, for example because it writes,
// waits, checks or prints.
bool is_impure(const Graph& graph, const Node& node);

// Returns the nodes that nothing needs, last first. `stays(node)`: true for a call or constant that
// is needed even if nothing reads it.
template <class Stays>
std::vector<NodeId> find_dead(const Graph& graph, Stays stays) {
  std::vector<bool> is_read(graph.node_count(), false);
  std::vector<NodeId> dead;
  const auto order = graph.order();
  for (std::size_t i = order.size(); i-- > 0;) {
    const Node& node = graph.node(order[i]);
    if (node.kind != NodeKind::placeholder && node.kind != NodeKind::output &&
        !is_read[order[i].index()] && !stays(node)) {
      dead.push_back(order[i]);
      continue;
    }
    for (const NodeId input : graph.inputs(node)) is_read[input.index()] = true;
  }
  return dead;
}

// Erases calls and constants that nothing needs. The graph must have one part.
void eliminate_dead_code(Graph& graph);

}  // namespace jointer
