#include "core/policy/gathered_weights.h"

#include <algorithm>

#include "core/policy/fsdp_gathers.h"

namespace jointer {

std::vector<bool> gathered_weights(const Graph& graph) {
  std::vector<bool> is_gathered(graph.node_count(), false), is_weight(graph.node_count(), false);
  for (const FsdpGather& gather : fsdp_gathers(graph)) {
    if (gather.convert) is_gathered[gather.convert.index()] = true;
    is_gathered[gather.gather.index()] = true;
  }
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const auto inputs = graph.inputs(id);
    is_weight[id.index()] =
        node.role == Role::parameter || node.role == Role::buffer ||
        (node.kind == NodeKind::call && !inputs.empty() &&
         std::ranges::all_of(inputs, [&](NodeId input) { return is_weight[input.index()]; }));
    if (node.kind != NodeKind::call) continue;
    const bool gathers = is_weight[id.index()] && graph.is_collective_start(node);
    const bool uses_gathered = !inputs.empty() && std::ranges::all_of(inputs, [&](NodeId input) {
      return is_gathered[input.index()];
    });
    if (gathers || uses_gathered) is_gathered[id.index()] = true;
  }
  return is_gathered;
}

}  // namespace jointer
