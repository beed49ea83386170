#include "views/session/snapshot/measured_timeline.h"

#include <algorithm>
#include <numeric>

namespace jointer::views {
namespace {

std::vector<std::int64_t> positions_of(const TimelineData& data) {
  std::vector<std::int64_t> positions(data.point_count());
  for (std::size_t point = 0; point < positions.size(); ++point)
    positions[point] = data.position(point);
  return positions;
}

// The profile as a curve; empty if it has another number of points than the estimate, since it is
// then from another graph.
MeasuredCurve curve_by_points(const TimelineData& data, const std::vector<std::int64_t>& profile) {
  if (profile.empty() || profile.size() != data.point_count()) return {};
  return {positions_of(data), profile, data.length()};
}

MeasuredCurve curve_over_time(const std::vector<MeasuredBytes>& samples, std::int64_t end) {
  if (samples.empty()) return {};
  std::vector<std::int64_t> positions, bytes;
  for (const MeasuredBytes& sample : samples) {
    positions.push_back(sample.ns);
    bytes.push_back(sample.bytes);
  }
  return {std::move(positions), std::move(bytes), std::max(end, samples.back().ns + 1)};
}

// The profile at the measured times of nodes, and the memory samples of compiled blocks while they
// ran.
MeasuredCurve curve_with_blocks(const TimelineData& data, const Measurement& measurement) {
  const std::vector<std::int64_t>& profile = measurement.memory_profile;
  if (profile.empty() || profile.size() != data.point_count()) return {};
  std::vector<MeasuredBytes> samples;
  std::size_t point = 0;
  for (const MeasuredBlock& block : measurement.blocks) {
    if (block.memory.empty()) continue;
    for (; point < profile.size() && data.position(point) < block.start_ns; ++point)
      samples.push_back({data.position(point), profile[point]});
    for (const MeasuredBytes& sample : block.memory)
      samples.push_back({block.start_ns + sample.ns, sample.bytes});
    // Skip the points of the block's nodes, except the last one, which applies until the next node
    // runs.
    while (point + 1 < profile.size() && data.position(point + 1) <= block.end_ns) ++point;
  }
  for (; point < profile.size(); ++point)
    samples.push_back(
        {std::max(data.position(point), samples.empty() ? 0 : samples.back().ns), profile[point]});
  return curve_over_time(samples, data.length());
}

}  // namespace

// --- MeasuredCurve ---

MeasuredCurve::MeasuredCurve(std::vector<std::int64_t> positions, std::vector<std::int64_t> bytes,
                             std::int64_t end)
    : positions_(std::move(positions)), bytes_(std::move(bytes)), end_(end), maximum_(bytes_) {}

// --- MeasuredTimeline ---

MeasuredTimeline::MeasuredTimeline(const Graph& graph, const Analysis& analysis,
                                   MeasurementPtr measurement, const MemoryBandsPtr& bands)
    : measurement_(std::move(measurement)),
      program_order_(graph, analysis, *measurement_, AxisKind::program_order, bands),
      time_(graph, analysis, *measurement_, AxisKind::measured_time, bands),
      order_curve_(curve_by_points(program_order_, measurement_->memory_profile)),
      by_node_(graph.node_count(), -1),
      block_by_node_(graph.node_count(), -1) {
  // Prefer the sampled curve, which includes temporary memory within calls.
  time_curve_ = curve_over_time(measurement_->memory_over_time, time_.length());
  if (time_curve_.empty() && !(measurement_->nodes.empty() && measurement_->blocks.empty()))
    time_curve_ = curve_with_blocks(time_, *measurement_);
  for (std::size_t i = 0; i < measurement_->nodes.size(); ++i) {
    const NodeId node = measurement_->nodes[i].node;
    if (node.index() >= by_node_.size()) continue;
    if (was_local_copy(graph, *measurement_, graph.node(node))) continue;
    by_node_[node.index()] = static_cast<std::int32_t>(i);
  }
  for (std::size_t i = 0; i < measurement_->blocks.size(); ++i)
    for (const NodeId node : measurement_->blocks[i].nodes)
      if (node.index() < block_by_node_.size())
        block_by_node_[node.index()] = static_cast<std::int32_t>(i);
  index_kernels(graph.node_count());
  peak_bytes_ = measurement_->peak_bytes;
  if (peak_bytes_ > 0) return;
  for (const MeasuredCurve* curve : {&order_curve_, &time_curve_})
    if (!curve->empty()) peak_bytes_ = std::max(peak_bytes_, curve->bytes(curve->peak()));
}

void MeasuredTimeline::index_kernels(std::size_t node_count) {
  const std::vector<NodeKernel>& kernels = measurement_->kernels;
  first_kernel_.assign(node_count + 1, 0);
  for (const NodeKernel& kernel : kernels)
    if (kernel.node.index() < node_count) ++first_kernel_[kernel.node.index() + 1];
  std::partial_sum(first_kernel_.begin(), first_kernel_.end(), first_kernel_.begin());
  kernels_by_node_.resize(first_kernel_.back());
  std::vector<std::uint32_t> next = first_kernel_;
  for (std::uint32_t i = 0; i < kernels.size(); ++i)
    if (const std::size_t node = kernels[i].node.index(); node < node_count)
      kernels_by_node_[next[node]++] = i;
}

const MeasuredNode* MeasuredTimeline::find(NodeId node) const {
  if (!node || node.index() >= by_node_.size()) return nullptr;
  const std::int32_t index = by_node_[node.index()];
  return index < 0 ? nullptr : &measurement_->nodes[static_cast<std::size_t>(index)];
}

const MeasuredBlock* MeasuredTimeline::block_of(NodeId node) const {
  if (!node || node.index() >= block_by_node_.size()) return nullptr;
  const std::int32_t index = block_by_node_[node.index()];
  return index < 0 ? nullptr : &measurement_->blocks[static_cast<std::size_t>(index)];
}

std::span<const std::uint32_t> MeasuredTimeline::kernels_of(NodeId node) const {
  if (node.index() + 1 >= first_kernel_.size()) return {};
  const std::uint32_t first = first_kernel_[node.index()];
  return std::span(kernels_by_node_).subspan(first, first_kernel_[node.index() + 1] - first);
}

}  // namespace jointer::views
