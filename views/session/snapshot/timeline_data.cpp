#include "views/session/snapshot/timeline_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "core/base/units.h"
#include "core/bench/kernel_name.h"
#include "core/ops/flops.h"
#include "core/schedule/memory_times.h"

namespace jointer::views {
namespace {

constexpr std::size_t kHostLane = 0, kComputeLane = 1, kFirstGroupLane = 2;
// In program order, a measured wait of at least this duration is shown as a stall. If the result is
// ready, wait_tensor returns sooner.
constexpr std::int64_t kMinStallNs = 10'000;

ItemColor collective_color(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_gather:
      return ItemColor::all_gather;
    case CollectiveKind::reduce_scatter:
      return ItemColor::reduce_scatter;
    case CollectiveKind::all_reduce:
      return ItemColor::all_reduce;
    case CollectiveKind::all_to_all:
      return ItemColor::all_to_all;
    case CollectiveKind::broadcast:
      return ItemColor::broadcast;
    case CollectiveKind::none:  // a copy to or from the host
      break;
  }
  return ItemColor::memory;
}

ItemColor kernel_color(const Graph& graph, const Node& node, const Flops& flops) {
  if (flops.total > 0) {
    const bool attention = graph.target(node).find("attention") != std::string_view::npos;
    return attention ? ItemColor::attention : ItemColor::matmul;
  }
  return ItemColor::memory;
}

std::vector<std::int64_t> to_vector(std::span<const std::int64_t> values) {
  return {values.begin(), values.end()};
}

}  // namespace

std::vector<NodeId> running_nodes(const MeasuredBlock& block, const Graph& graph,
                                  const Analysis& analysis) {
  std::vector<NodeId> nodes = block.nodes;
  std::erase_if(nodes, [&](NodeId node) {
    return node.index() >= graph.node_count() || !analysis.memory.step_of(node);
  });
  return nodes;
}

ItemColor node_color(const Graph& graph, const Analysis& analysis, NodeId id) {
  const Node& node = graph.node(id);
  return graph.is_asynchronous(node) ? collective_color(graph.op(node).collective)
                                     : kernel_color(graph, node, analysis.flops[id.index()]);
}

// --- Lane ---

Lane::Lane(std::string name, GroupId group, std::vector<LaneItem> items, ItemTexts texts)
    : name_(std::move(name)), group_(group), items_(std::move(items)), texts_(std::move(texts)) {
  ends_.reserve(items_.size());
  sums_.resize(items_.size() + 1);
  std::int64_t last_end = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    last_end = std::max(last_end, items_[i].end);
    ends_.push_back(last_end);
    sums_[i + 1] = sums_[i];
    sums_[i + 1][static_cast<std::size_t>(items_[i].color)] += items_[i].end - items_[i].begin;
  }
}

std::size_t Lane::first_ending_after(std::int64_t position) const {
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), position) -
                                  ends_.begin());
}

std::size_t Lane::first_beginning_at(std::int64_t position) const {
  return static_cast<std::size_t>(
      std::lower_bound(items_.begin(), items_.end(), position,
                       [](const LaneItem& item, std::int64_t p) { return item.begin < p; }) -
      items_.begin());
}

Lane::TimeByColor Lane::times(std::size_t first, std::size_t last) const {
  TimeByColor times{};
  for (std::size_t c = 0; c < kItemColors; ++c) times[c] = sums_[last][c] - sums_[first][c];
  return times;
}

// --- RangeMaximum ---

RangeMaximum::RangeMaximum(std::span<const std::int64_t> values) : values_(to_vector(values)) {
  const std::size_t blocks = values_.size() / kBlock;
  if (blocks == 0) return;
  levels_.emplace_back(blocks);
  for (std::size_t b = 0; b < blocks; ++b)
    levels_[0][b] = static_cast<std::uint32_t>(scan(b * kBlock, (b + 1) * kBlock));
  for (std::size_t width = 2; width <= blocks; width *= 2) {
    const auto& half = levels_.back();
    std::vector<std::uint32_t> level(blocks - width + 1);
    for (std::size_t b = 0; b < level.size(); ++b)
      level[b] = static_cast<std::uint32_t>(better(half[b], half[b + width / 2]));
    levels_.push_back(std::move(level));
  }
}

std::size_t RangeMaximum::scan(std::size_t first, std::size_t last) const {
  std::size_t best = first;
  for (std::size_t i = first + 1; i < last; ++i) best = better(best, i);
  return best;
}

std::size_t RangeMaximum::find(std::size_t first, std::size_t last) const {
  const std::size_t first_block = (first + kBlock - 1) / kBlock, last_block = last / kBlock;
  if (first_block >= last_block) return scan(first, last);
  const std::size_t width = last_block - first_block;
  const auto level = static_cast<std::size_t>(std::bit_width(width | 1U) - 1);
  std::size_t best = levels_[level][first_block];
  best = better(best, levels_[level][last_block - (std::size_t{1} << level)]);
  // Check the partial blocks at both ends; the leftmost maximum wins ties.
  if (first < first_block * kBlock) {
    const std::size_t left = scan(first, first_block * kBlock);
    best = better(left, best);
  }
  if (last_block * kBlock < last) best = better(best, scan(last_block * kBlock, last));
  return best;
}

// --- Points ---

std::size_t point_at(std::span<const std::int64_t> positions, std::int64_t position) {
  const auto next = std::ranges::upper_bound(positions, position);
  return next == positions.begin() ? 0 : static_cast<std::size_t>(next - positions.begin()) - 1;
}

std::size_t first_point_at(std::span<const std::int64_t> positions, std::int64_t position) {
  return static_cast<std::size_t>(std::ranges::lower_bound(positions, position) -
                                  positions.begin());
}

std::size_t largest_point(std::span<const std::int64_t> positions, const RangeMaximum& maximum,
                          std::int64_t begin, std::int64_t end) {
  const std::size_t first = point_at(positions, begin);
  return maximum.find(first, std::max(first_point_at(positions, end), first + 1));
}

// --- TimelineData ---

MemoryBands::MemoryBands(const Analysis& analysis)
    : categories(analysis.memory.by_category()),
      reserved(analysis.reserved.bytes),
      maximum(analysis.memory.profile()) {}

TimelineData::TimelineData(const Graph& graph, const Analysis& analysis, AxisKind kind,
                           MemoryBandsPtr bands)
    : kind_(kind),
      bands_(bands ? std::move(bands) : std::make_shared<const MemoryBands>(analysis)),
      extents_(graph.node_count()),
      lane_by_node_(graph.node_count(), -1) {
  if (kind == AxisKind::program_order)
    place_in_program_order(graph, analysis);
  else
    place_in_time(graph, analysis);
}

TimelineData::TimelineData(const Graph& graph, const Analysis& analysis,
                           const Measurement& measurement, AxisKind kind, MemoryBandsPtr bands)
    : kind_(kind),
      bands_(std::move(bands)),
      extents_(graph.node_count()),
      lane_by_node_(graph.node_count(), -1) {
  if (kind == AxisKind::program_order)
    place_points_by_step(analysis.memory.steps().size());
  else
    place_points_by_measured_time(graph, analysis, measurement);
  place_measured(graph, analysis, measurement);
  // A kernel ran at some time; in program order, only its node has a position.
  if (kind != AxisKind::program_order) place_kernels(graph, analysis, measurement);
}

// A node's allocations are shown from its start, its releases from the start of the next node.
void TimelineData::place_points_by_step(std::size_t steps) {
  const auto count = static_cast<std::int64_t>(steps);
  length_ = std::max<std::int64_t>(count, 1);
  positions_.reserve(2 * steps + 1);
  positions_.push_back(0);
  for (std::int64_t step = 0; step < count; ++step) {
    positions_.push_back(step);
    positions_.push_back(step + 1);
  }
}

void TimelineData::place_in_program_order(const Graph& graph, const Analysis& analysis) {
  const auto steps = analysis.memory.steps();
  const auto count = static_cast<std::int64_t>(steps.size());
  place_points_by_step(steps.size());

  std::vector<std::vector<LaneItem>> items(kFirstGroupLane + analysis.simulation.streams().size());
  for (std::int64_t step = 0; step < count; ++step) {
    const NodeId id = steps[static_cast<std::size_t>(step)];
    const Node& n = graph.node(id);
    const NodeTiming& timing = analysis.simulation.timing(id);
    extents_[id.index()] = {step, step + 1};
    lane_by_node_[id.index()] = static_cast<std::int32_t>(kHostLane);
    items[kHostLane].push_back({step, step + 1, id, ItemColor::host});
    if (graph.is_asynchronous(n)) {
      // The item of a collective or a copy extends from its start to its wait.
      const auto& collective =
          analysis.simulation
              .collectives()[static_cast<std::size_t>(analysis.simulation.collective_of(id))];
      std::int64_t end = step + 1;
      if (collective.wait)
        if (const auto wait = analysis.memory.step_of(collective.wait))
          end = std::max(end, static_cast<std::int64_t>(*wait) + 1);
      const std::size_t lane = kComputeLane + static_cast<std::size_t>(timing.stream);
      items[lane].push_back({step, end, id, collective_color(graph.op(n).collective)});
      extents_[id.index()] = {step, end};
      lane_by_node_[id.index()] = static_cast<std::int32_t>(lane);
    } else if (graph.is_wait(n)) {
      if (timing.end <= timing.start) continue;
      items[kComputeLane].push_back({step, step + 1, id, ItemColor::stall});
      lane_by_node_[id.index()] = static_cast<std::int32_t>(kComputeLane);
    } else if (timing.stream == 0) {
      items[kComputeLane].push_back(
          {step, step + 1, id, kernel_color(graph, n, analysis.flops[id.index()])});
      lane_by_node_[id.index()] = static_cast<std::int32_t>(kComputeLane);
    }
  }
  build_lanes(analysis, std::move(items));
}

void TimelineData::place_in_time(const Graph& graph, const Analysis& analysis) {
  const Simulation& simulation = analysis.simulation;
  length_ = std::max<std::int64_t>(simulation.step_ns(), 1);

  positions_ = memory_times(graph, analysis.memory, simulation);
  std::vector<std::vector<LaneItem>> items(kFirstGroupLane + simulation.streams().size());
  for (const NodeId id : analysis.memory.steps()) {
    const Node& n = graph.node(id);
    const NodeTiming& timing = simulation.timing(id);
    extents_[id.index()] = {timing.start, timing.end};
    if (timing.host_end > timing.host_start) {
      items[kHostLane].push_back({timing.host_start, timing.host_end, id, ItemColor::host});
      lane_by_node_[id.index()] = static_cast<std::int32_t>(kHostLane);
      if (timing.end <= timing.start) extents_[id.index()] = {timing.host_start, timing.host_end};
    }
    if (timing.stream < 0 || timing.end <= timing.start) continue;
    const std::size_t lane = kComputeLane + static_cast<std::size_t>(timing.stream);
    const ItemColor color = graph.is_wait(n) ? ItemColor::stall : node_color(graph, analysis, id);
    items[lane].push_back({timing.start, timing.end, id, color});
    lane_by_node_[id.index()] = static_cast<std::int32_t>(lane);
  }
  build_lanes(analysis, std::move(items));
}

// By node: the part of its compiled block's time that is attributed to it, in proportion to the
// estimates of the block's nodes; {0, 0} for nodes outside of blocks.
std::vector<TimelineData::Extent> TimelineData::extents_in_blocks(const Graph& graph,
                                                                  const Analysis& analysis,
                                                                  const Measurement& measurement) {
  std::vector<Extent> extents(graph.node_count());
  for (const MeasuredBlock& block : measurement.blocks) {
    const std::vector<NodeId> nodes = running_nodes(block, graph, analysis);
    const auto share_of = [&](NodeId node) {
      return static_cast<double>(std::max<std::int64_t>(analysis.costs[node.index()].ns, 1));
    };
    double all = 0, before = 0;
    for (const NodeId node : nodes) all += share_of(node);
    const auto time_at = [&](double share) {
      return block.start_ns +
             std::llround(static_cast<double>(block.end_ns - block.start_ns) * share / all);
    };
    for (const NodeId node : nodes) {
      extents[node.index()].begin = time_at(before);
      before += share_of(node);
      extents[node.index()].end = time_at(before);
    }
  }
  return extents;
}

// Memory changes at the measured times of nodes. Nodes without a time, measured or attributed, take
// no time. If no node and no block was measured, the estimate is scaled to the measured step.
void TimelineData::place_points_by_measured_time(const Graph& graph, const Analysis& analysis,
                                                 const Measurement& measurement) {
  const std::size_t points = analysis.memory.profile().size();
  positions_.reserve(points);
  length_ = std::max<std::int64_t>(measurement.step_ns, 1);
  if (!measurement.memory_over_time.empty())
    length_ = std::max(length_, measurement.memory_over_time.back().ns);
  for (const NodeKernel& kernel : measurement.kernels) length_ = std::max(length_, kernel.end_ns);
  if (measurement.nodes.empty() && measurement.blocks.empty()) {
    const TimelineData estimate(graph, analysis, AxisKind::estimated_time, bands_);
    const double stretch = static_cast<double>(length_) / static_cast<double>(estimate.length());
    for (std::size_t point = 0; point < points; ++point)
      positions_.push_back(
          static_cast<std::int64_t>(static_cast<double>(estimate.position(point)) * stretch));
    return;
  }
  std::vector<const MeasuredNode*> by_node(graph.node_count(), nullptr);
  for (const MeasuredNode& m : measurement.nodes) {
    if (m.node.index() < by_node.size()) by_node[m.node.index()] = &m;
    length_ = std::max(length_, m.end_ns);
  }
  for (const MeasuredBlock& block : measurement.blocks) length_ = std::max(length_, block.end_ns);
  const std::vector<Extent> in_blocks = extents_in_blocks(graph, analysis, measurement);
  std::int64_t clock = 0;
  positions_.push_back(0);
  for (const NodeId id : analysis.memory.steps()) {
    Extent ran = in_blocks[id.index()];
    // A collective's buffer is allocated at launch; nothing is freed at its end.
    if (const MeasuredNode* m = by_node[id.index()])
      ran = {m->start_ns, graph.is_asynchronous(graph.node(id)) ? m->start_ns : m->end_ns};
    clock = std::max(clock, ran.begin);
    positions_.push_back(clock);
    clock = std::max(clock, ran.end);
    positions_.push_back(clock);
  }
}

void TimelineData::place_measured(const Graph& graph, const Analysis& analysis,
                                  const Measurement& measurement) {
  const Simulation& simulation = analysis.simulation;
  std::vector<std::vector<LaneItem>> items(kFirstGroupLane + simulation.streams().size());
  const bool in_order = kind_ == AxisKind::program_order;
  for (const MeasuredNode& m : measurement.nodes) {
    if (m.node.index() >= graph.node_count() || m.end_ns <= m.start_ns) continue;
    const auto step = analysis.memory.step_of(m.node);
    if (!step) continue;
    const Node& n = graph.node(m.node);
    const bool is_start = graph.is_asynchronous(n);
    const bool is_wait = graph.is_wait(n);
    if (was_local_copy(graph, measurement, n)) continue;
    if (in_order && is_wait && m.end_ns - m.start_ns < kMinStallNs) continue;
    std::size_t lane = kComputeLane;
    ItemColor color = ItemColor::stall;
    Extent extent{m.start_ns, m.end_ns};
    if (in_order) {
      const auto at = static_cast<std::int64_t>(*step);
      extent = {at, at + 1};
    }
    if (is_start) {
      lane += static_cast<std::size_t>(std::max(simulation.timing(m.node).stream, 0));
      color = collective_color(graph.op(n).collective);
      const std::int32_t collective = simulation.collective_of(m.node);
      if (in_order && collective >= 0) {
        const NodeId wait = simulation.collectives()[static_cast<std::size_t>(collective)].wait;
        if (const auto wait_step = wait ? analysis.memory.step_of(wait) : std::nullopt)
          extent.end = std::max(extent.end, static_cast<std::int64_t>(*wait_step) + 1);
      }
    } else if (!is_wait) {
      color = kernel_color(graph, n, analysis.flops[m.node.index()]);
    }
    items[lane].push_back({extent.begin, extent.end, m.node, color});
    extents_[m.node.index()] = extent;
    lane_by_node_[m.node.index()] = static_cast<std::int32_t>(lane);
  }
  place_blocks(graph, analysis, measurement, items);
  for (std::vector<LaneItem>& lane : items) std::ranges::stable_sort(lane, {}, &LaneItem::begin);
  std::vector<std::string> texts;
  for (const MeasuredBlock& block : measurement.blocks)
    texts.push_back("compiled " + block.name + ", " + format_ns(block.own_ns));
  build_lanes(analysis, std::move(items),
              std::make_shared<const std::vector<std::string>>(std::move(texts)));
}

// A block is in the compute lane and in the lanes of the collectives and copies that it contains.
// On a time axis, it is one item in each lane. In program order, it is one item for each
// uninterrupted run of its nodes.
void TimelineData::place_blocks(const Graph& graph, const Analysis& analysis,
                                const Measurement& measurement,
                                std::vector<std::vector<LaneItem>>& lanes) {
  const bool in_order = kind_ == AxisKind::program_order;
  for (std::size_t b = 0; b < measurement.blocks.size(); ++b) {
    const MeasuredBlock& block = measurement.blocks[b];
    const std::vector<NodeId> nodes = running_nodes(block, graph, analysis);
    if (nodes.empty()) continue;
    const LaneItem whole{.begin = block.start_ns,
                         .end = block.end_ns,
                         .node = nodes.front(),
                         .color = ItemColor::compiled,
                         .block = static_cast<std::int32_t>(b)};
    std::vector<LaneItem> stretches;
    std::set<std::size_t> covered{kComputeLane};
    for (const NodeId node : nodes) {
      const auto at = static_cast<std::int64_t>(*analysis.memory.step_of(node));
      std::size_t lane = kComputeLane;
      if (graph.is_asynchronous(graph.node(node)))
        lane += static_cast<std::size_t>(std::max(analysis.simulation.timing(node).stream, 0));
      covered.insert(lane);
      lane_by_node_[node.index()] = static_cast<std::int32_t>(lane);
      extents_[node.index()] = in_order ? Extent{at, at + 1} : Extent{whole.begin, whole.end};
      if (!stretches.empty() && stretches.back().end == at) {
        ++stretches.back().end;
        continue;
      }
      stretches.push_back(whole);
      stretches.back().begin = at;
      stretches.back().end = at + 1;
      stretches.back().node = node;
    }
    if (!in_order) stretches = {whole};
    for (const std::size_t lane : covered)
      lanes[lane].insert(lanes[lane].end(), stretches.begin(), stretches.end());
  }
}

// Kernels have the color of the node that launched them, or of the compiled block that contains it.
void TimelineData::place_kernels(const Graph& graph, const Analysis& analysis,
                                 const Measurement& measurement) {
  std::vector<bool> is_compiled(graph.node_count());
  for (const MeasuredBlock& block : measurement.blocks)
    for (const NodeId node : block.nodes)
      if (node.index() < is_compiled.size()) is_compiled[node.index()] = true;
  const auto color_of = [&](NodeId node) {
    const Node& n = graph.node(node);
    if (is_compiled[node.index()]) return ItemColor::compiled;
    if (was_local_copy(graph, measurement, n)) return ItemColor::memory;
    return node_color(graph, analysis, node);
  };
  std::map<std::int64_t, std::vector<LaneItem>> streams;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < measurement.kernels.size(); ++i) {
    const NodeKernel& kernel = measurement.kernels[i];
    texts.emplace_back(short_kernel_name(kernel.name));
    if (kernel.node.index() >= graph.node_count() || kernel.end_ns <= kernel.start_ns) continue;
    if (!analysis.memory.step_of(kernel.node)) continue;
    streams[kernel.stream].push_back({.begin = kernel.start_ns,
                                      .end = kernel.end_ns,
                                      .node = kernel.node,
                                      .color = color_of(kernel.node),
                                      .kernel = static_cast<std::int32_t>(i)});
  }
  const auto shared = std::make_shared<const std::vector<std::string>>(std::move(texts));
  lane_by_kernel_.assign(measurement.kernels.size(), -1);
  for (auto& [stream, items] : streams) {
    for (const LaneItem& item : items)
      lane_by_kernel_[static_cast<std::size_t>(item.kernel)] =
          static_cast<std::int32_t>(lanes_.size());
    lanes_.emplace_back("stream " + std::to_string(stream), GroupId{}, std::move(items), shared);
  }
}

void TimelineData::build_lanes(const Analysis& analysis, std::vector<std::vector<LaneItem>> items,
                               const ItemTexts& blocks) {
  lanes_.emplace_back("cpu", GroupId{}, std::move(items[kHostLane]));
  const auto streams = analysis.simulation.streams();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    std::vector<LaneItem>& lane = items[kComputeLane + i];
    lanes_.emplace_back(streams[i].name, streams[i].group, std::move(lane), blocks);
  }
  first_kernel_lane_ = lanes_.size();
}

}  // namespace jointer::views
