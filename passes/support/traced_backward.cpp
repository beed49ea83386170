#include "passes/support/traced_backward.h"

#include <algorithm>

namespace jointer {

std::vector<bool> traced_in_backward(const Graph& graph) {
  const bool is_flagged = std::ranges::any_of(
      graph.order(), [&](NodeId id) { return graph.node(id).has(Node::has_autograd_backward); });
  std::vector<bool> is_backward(graph.node_count(), false);
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    is_backward[id.index()] =
        is_flagged ? n.has(Node::autograd_backward) : n.phase == Phase::backward;
  }
  return is_backward;
}

}  // namespace jointer
