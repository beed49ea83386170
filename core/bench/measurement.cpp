#include "core/bench/measurement.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/bench/result.h"

namespace jointer {

Measurement measurement_of(const Graph& graph, const RankMeasured& measured, std::string label,
                           std::string device, std::string device_type, bool alone) {
  Measurement result;
  result.label = std::move(label);
  result.device = std::move(device);
  result.device_type = std::move(device_type);
  result.alone = alone;
  result.memory_profile = measured.memory_profile;
  result.step_ns = summarize(measured.step_ns).median_ns;
  result.peak_bytes = measured.peak_bytes;
  result.nodes.reserve(measured.nodes.size());
  for (const NodeTime& time : measured.nodes)
    if (time.position < graph.order().size())
      result.nodes.push_back(
          {graph.order()[time.position], time.start_ns, time.end_ns, time.own_ns});
  for (const CompiledBlock& block : measured.blocks) {
    MeasuredBlock made{.name = block.name,
                       .nodes = {},
                       .start_ns = block.start_ns,
                       .end_ns = block.end_ns,
                       .own_ns = block.own_ns,
                       .peak_bytes = block.peak_bytes,
                       .memory = block.memory};
    for (const std::uint32_t position : block.positions)
      if (position < graph.order().size()) made.nodes.push_back(graph.order()[position]);
    if (!made.nodes.empty() && made.end_ns > made.start_ns)
      result.blocks.push_back(std::move(made));
  }
  std::ranges::stable_sort(result.blocks, {}, &MeasuredBlock::start_ns);
  result.kernels.reserve(measured.kernels.size());
  for (const MeasuredKernel& kernel : measured.kernels)
    if (kernel.position < graph.order().size())
      result.kernels.push_back({.node = graph.order()[kernel.position],
                                .name = kernel.name,
                                .stream = kernel.stream,
                                .start_ns = kernel.start_ns,
                                .end_ns = kernel.end_ns});
  std::ranges::stable_sort(result.kernels, {}, &NodeKernel::start_ns);
  if (const std::size_t left_out = measured.nodes.size() - result.nodes.size(); left_out > 0)
    result.notes.push_back(fmt::format("{} of {} times {} that this graph does not contain",
                                       left_out, measured.nodes.size(),
                                       left_out == 1 ? "is for a node" : "are for nodes"));
  std::ranges::stable_sort(result.nodes, {}, &MeasuredNode::start_ns);
  return result;
}

bool was_local_copy(const Graph& graph, const Measurement& measurement, const Node& node) {
  if (!measurement.alone) return false;
  if (!graph.is_wait(node)) return graph.is_collective_start(node);
  // If the start is not in the graph, it is most likely a collective of the forward.
  const NodeId start = graph.collective_of_wait(node);
  return !start || !graph.is_transfer(graph.node(start));
}

}  // namespace jointer
