#include "views/session/sac/sac_totals.h"

#include <utility>
#include <vector>

#include "core/graph/tuple_call.h"

namespace jointer::views {

PlanTotals::Sum sum_of(const SacState& state, std::span<const int> tensors) {
  const auto tensor = [&](int index) -> const SacTensor& {
    return state.tensors[static_cast<std::size_t>(index)];
  };
  if (state.totals) {
    std::vector<NodeId> nodes;
    for (const int index : tensors)
      if (tensor(index).is_needed) nodes.push_back(tensor(index).node);
    return state.totals->of(nodes);
  }
  const Graph& graph = state.snapshot->graph;
  std::vector<std::uint8_t> is_counted(graph.node_count(), 0);
  PlanTotals::Sum sum;
  for (const int index : tensors) {
    sum.bytes += tensor(index).bytes;  // of storages that no other row shares
    const NodeId call = tuple_call(graph, tensor(index).node);
    if (std::exchange(is_counted[call.index()], std::uint8_t{1}) != 0) continue;
    sum.recompute_ns += tensor(index).recompute_ns;
    sum.recompute_flops += tensor(index).recompute_flops;
    ++sum.calls;
  }
  return sum;
}

}  // namespace jointer::views
