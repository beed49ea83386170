#include "core/bench/explanation.h"
#include "core/schedule/memory_walk.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

namespace jointer {
namespace {

std::vector<PeakExplanation::OperatorScratch> scratch_by_operator(const Graph& graph,
                                                                  const RankMeasured& measured) {
  std::map<std::string_view, PeakExplanation::OperatorScratch> by_target;
  for (const NodeScratch& scratch : measured.scratch) {
    if (scratch.position >= graph.order().size()) continue;
    const NodeId id = graph.order()[scratch.position];
    auto& kept = by_target[graph.target(graph.node(id))];
    ++kept.calls;
    if (scratch.bytes <= kept.max_bytes) continue;
    kept.max_bytes = scratch.bytes;
    kept.node = id;
  }
  std::vector<PeakExplanation::OperatorScratch> operators;
  for (auto& [target, scratch] : by_target) {
    scratch.target = target;
    if (scratch.max_bytes > 0) operators.push_back(scratch);
  }
  std::ranges::stable_sort(operators, std::greater<>(),
                           &PeakExplanation::OperatorScratch::max_bytes);
  return operators;
}

// Scratch bytes, indexed like memory.steps(). RankMeasured::memory_profile does not include them.
std::vector<std::int64_t> scratch_by_step(const Graph& graph, const MemoryTimeline& memory,
                                          const RankMeasured& measured) {
  std::vector<std::int64_t> bytes(memory.steps().size(), 0);
  for (const NodeScratch& scratch : measured.scratch) {
    if (scratch.position >= graph.order().size()) continue;
    if (const auto step = memory.step_of(graph.order()[scratch.position]))
      bytes[*step] = scratch.bytes;
  }
  return bytes;
}

// Indexed like memory.steps(): true if the node ran as part of a compiled block.
std::vector<bool> steps_in_blocks(const Graph& graph, const MemoryTimeline& memory,
                                  const RankMeasured& measured) {
  std::vector<bool> is_compiled(memory.steps().size(), false);
  for (const CompiledBlock& block : measured.blocks)
    for (const std::uint32_t position : block.positions)
      if (position < graph.order().size())
        if (const auto step = memory.step_of(graph.order()[position])) is_compiled[*step] = true;
  return is_compiled;
}

std::vector<PeakExplanation::Block> blocks_of(const RankMeasured& measured) {
  std::vector<PeakExplanation::Block> blocks;
  for (const CompiledBlock& block : measured.blocks)
    blocks.push_back({.name = block.name,
                      .nodes = block.positions.size(),
                      .peak_bytes = block.peak_bytes,
                      .ns = block.own_ns});
  std::ranges::stable_sort(blocks, std::greater<>(), &PeakExplanation::Block::peak_bytes);
  return blocks;
}

}  // namespace

PeakExplanation explain_peak(const Graph& graph, const MemoryTimeline& memory,
                             const RankMeasured& measured) {
  // On a GPU, the measured resident peak and profile are requested bytes, which the allocator has
  // not rounded, so the prediction must not round, either.
  std::optional<MemoryTimeline> as_requested;
  if (memory.device() != DeviceType::cpu) {
    MemoryOptions options = memory.options();
    options.rounds_sizes = false;
    as_requested.emplace(graph, options);
  }
  const MemoryTimeline& exact = as_requested ? *as_requested : memory;
  const std::int64_t requested =
      measured.requested_peak_bytes > 0 ? measured.requested_peak_bytes : measured.peak_bytes;
  PeakExplanation result;
  result.difference = measured.peak_bytes - memory.peak_bytes();
  result.held = measured.resident_peak_bytes - exact.peak_bytes();
  result.scratch = requested - measured.resident_peak_bytes;
  result.rounding = result.difference - result.held - result.scratch;
  result.operators = scratch_by_operator(graph, measured);
  result.blocks = blocks_of(measured);
  const auto predicted = exact.profile();
  const auto& profile = measured.memory_profile;
  if (profile.size() != predicted.size()) return result;
  const std::vector<std::int64_t> scratch = scratch_by_step(graph, memory, measured);
  const std::vector<bool> is_compiled = steps_in_blocks(graph, memory, measured);
  std::int64_t peak_bytes = profile.front();
  for (std::size_t step = 0; step < scratch.size(); ++step) {
    const std::int64_t bytes = profile[point_of_step(step)] + scratch[step];
    if (bytes > peak_bytes) {
      peak_bytes = bytes;
      result.peak_node = is_compiled[step] ? NodeId{} : memory.steps()[step];
    }
  }
  for (std::size_t point = 0; point < profile.size(); ++point) {
    if (profile[point] == predicted[point]) continue;
    if (point > 0 && is_compiled[(point - 1) / 2]) continue;
    result.first_different = memory.node_at(point);
    result.first_difference = profile[point] - predicted[point];
    break;
  }
  return result;
}

}  // namespace jointer
