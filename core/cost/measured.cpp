// Estimates a node's time as the median of the samples for its key in the cost database. On a GPU,
// the measured time is that of the kernels; the CPU time for launching them comes from the
// roofline. On a CPU, the measured time covers the whole call, views included, so nothing is added
// to it.
//
// The time of a collective is interpolated between two measured sizes. The model, time = start-up +
// bytes / bandwidth, is a straight line as long as the algorithm stays the same, so two neighbors
// determine it. Outside the measured range, the algorithm is unknown, so the roofline is used.
//
// Cost: one key and one look-up per node.

#include "core/cost/measured.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/base/counted.h"
#include "core/base/units.h"

namespace jointer {

MeasuredEstimator::MeasuredEstimator(DeviceCosts costs, std::unique_ptr<Estimator> rest,
                                     std::int64_t ranks_per_machine)
    : costs_(std::move(costs)),
      rest_(std::move(rest)),
      runs_on_(parse_device_type(costs_.device.type)),
      ranks_per_machine_(ranks_per_machine) {
  std::map<CollectiveWork, std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>>> sums;
  for (const auto& [work, ns] : costs_.collectives) {
    CollectiveWork curve = work;
    curve.bytes = 0;
    curve.dtype = DType::uint8;
    auto& [sum, count] = sums[std::move(curve)][work.bytes];
    sum = saturating_add(sum, ns);
    ++count;
  }
  for (const auto& [curve, points] : sums)
    for (const auto& [bytes, point] : points) curves_[curve][bytes] = point.first / point.second;
}

std::string MeasuredEstimator::description() const {
  return fmt::format("measured on {}; the rest by {}", costs_.device.name, rest_->description());
}

std::string MeasuredEstimator::description_of(std::span<const NodeCost> costs) const {
  std::int64_t measured = 0, all = 0;
  double measured_ns = 0, all_ns = 0;
  for (const NodeCost& cost : costs) {
    if (cost.lane == NodeCost::Lane::none) continue;
    const bool is_measured = cost.limit == NodeCost::Limit::given;
    ++all;
    all_ns += static_cast<double>(cost.ns);
    measured += is_measured ? 1 : 0;
    measured_ns += is_measured ? static_cast<double>(cost.ns) : 0;
  }
  std::string text =
      fmt::format("measured on {}, {} of {}", costs_.device.name, format_count(measured),
                  counted(static_cast<std::size_t>(all), "node"));
  if (measured == all) return text;
  if (all_ns > 0) text += fmt::format(", {} of the time", format_percent(measured_ns / all_ns));
  return fmt::format("{}; the rest by {}", text, rest_->description());
}

std::optional<std::int64_t> MeasuredEstimator::collective_ns(const CollectiveWork& work) const {
  if (const auto known = costs_.collectives.find(work); known != costs_.collectives.end())
    return known->second;
  CollectiveWork key = work;
  key.bytes = 0;
  key.dtype = DType::uint8;
  const auto curve = curves_.find(key);
  if (curve == curves_.end()) return std::nullopt;
  const auto above = curve->second.lower_bound(work.bytes);
  if (above == curve->second.end()) return std::nullopt;
  if (above->first == work.bytes) return above->second;
  if (above == curve->second.begin()) return std::nullopt;
  const auto below = std::prev(above);
  const double part = static_cast<double>(work.bytes - below->first) /
                      static_cast<double>(above->first - below->first);
  return saturating_round(
      std::lerp(static_cast<double>(below->second), static_cast<double>(above->second), part));
}

NodeCost MeasuredEstimator::estimate(const Graph& graph, NodeId id) const {
  const Node& node = graph.node(id);
  if (node.kind != NodeKind::call || graph.is_wait(node) || graph.is_transfer(node))
    return rest_->estimate(graph, id);
  if (graph.is_collective_start(node)) {
    NodeCost cost = rest_->estimate(graph, id);
    if (curves_.empty()) return cost;
    const auto ns = collective_ns(collective_work(graph, node, runs_on_, ranks_per_machine_));
    if (!ns) return cost;
    cost.ns = *ns;
    cost.limit = NodeCost::Limit::given;
    return cost;
  }
  // Reused across calls to avoid allocation.
  thread_local std::string work;
  work.clear();
  append_work(graph, node, work);
  const auto known = costs_.nodes.find(std::string_view(work));
  if (known == costs_.nodes.end()) return rest_->estimate(graph, id);
  NodeCost cost{.lane = NodeCost::Lane::compute, .limit = NodeCost::Limit::given};
  if (runs_on_ != DeviceType::cpu) {
    const NodeCost modeled = rest_->estimate(graph, id);
    cost.blocks_host = modeled.blocks_host;
    cost.host_ns = modeled.host_ns;
  }
  cost.ns = known->second;
  return cost;
}

EstimatorRequest measured_on(std::string_view device) {
  return {.name = "measured{device=\"" + std::string(device) + "\"}", .device = {}};
}

}  // namespace jointer
