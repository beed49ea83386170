#include "core/graph/from_parameters.h"

#include <algorithm>

namespace jointer {

std::vector<bool> derived_from_parameters(const Graph& graph) {
  std::vector<bool> derived(graph.node_count(), false);
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind == NodeKind::placeholder)
      derived[id.index()] = n.role == Role::parameter;
    else if (const auto inputs = graph.inputs(n); !inputs.empty())
      derived[id.index()] =
          std::ranges::all_of(inputs, [&](NodeId input) { return derived[input.index()]; });
  }
  return derived;
}

}  // namespace jointer
