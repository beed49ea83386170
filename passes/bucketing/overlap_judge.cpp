#include "passes/bucketing/overlap_judge.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/schedule/memory_timeline.h"

namespace jointer {

std::int64_t MemoryIncrease::over(std::int64_t peak) const {
  return std::max(bytes, saturating_whole(static_cast<double>(peak) * ratio));
}

OverlapJudge::OverlapJudge(const Graph& graph, const OverlapGraph& half,
                           std::span<const NodeCost> costs, const MemoryIncrease& increase,
                           const PassContext& context)
    : options_(context.analysis()), before_(judge(graph, half, costs)) {
  limit_ = saturating_add(before_.peak_bytes, increase.over(before_.peak_bytes));
  if (const auto peak_limit = context.peak_limit()) limit_ = std::min(limit_, *peak_limit);
  torch_limit_ = saturating_add(before_.torch_peak_bytes, increase.over(before_.torch_peak_bytes));
}

OrderFigures OverlapJudge::judge(const Graph& graph, const OverlapGraph& half,
                                 std::span<const NodeCost> costs) const {
  OrderFigures figures = weigh(graph, half, TorchStorages(half));
  const Simulation simulation(graph, costs, options_.simulation);
  figures.step_ns = simulation.step_ns();
  figures.exposed_ns = simulation.exposed_ns();
  return figures;
}

OrderFigures OverlapJudge::weigh(const Graph& graph, const OverlapGraph& half,
                                 const TorchStorages& storages) const {
  const MemoryTimeline memory(graph, options_.memory);
  OrderFigures figures{.peak_bytes = memory.peak_bytes(),
                       .peak_at = memory.node_at(memory.peak_index())};
  TorchMemory torch(storages);
  figures.torch_peak_bytes = torch.now();
  for (const NodeId id : graph.order()) {
    if (half.place_of[id.index()] == kNoPlace) continue;
    torch.run(half.place_of[id.index()]);
    if (torch.within() <= figures.torch_peak_bytes) continue;
    figures.torch_peak_bytes = torch.within();
    figures.torch_peak_at = id;
  }
  return figures;
}

}  // namespace jointer
