#pragma once

// The data that the timeline draws, prepared once for all zoom levels: lanes as sorted items with
// prefix sums, and the memory curve with a range-maximum index. No Qt; axis_view.h maps
// positions to pixels.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/bench/measurement.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer::views {

// The horizontal axes. A position is an integer: the number of a call, from 0, in program order, or
// an estimated or measured time in nanoseconds since the start of the step.
enum class AxisKind : std::uint8_t { program_order, estimated_time, measured_time };

// The meaning of a color in a lane.
enum class ItemColor : std::uint8_t {
  host,
  matmul,  // calls with FLOPs, except attention
  attention,
  memory,  // calls without FLOPs, such as pointwise operators and reductions, and copies
  other,
  compiled,  // a measured block of several nodes
  stall,
  all_gather,
  reduce_scatter,
  all_reduce,
  all_to_all,
  broadcast,
};
inline constexpr std::size_t kItemColors = 12;

// The color of a node in its lane, which shows the kind of its collective or, for other calls, of
// its computation.
ItemColor node_color(const Graph& graph, const Analysis& analysis, NodeId id);

// The nodes of a compiled block that the graph runs. After an edit is undone, the graph may not
// have all of them.
std::vector<NodeId> running_nodes(const MeasuredBlock& block, const Graph& graph,
                                  const Analysis& analysis);

struct LaneItem {
  std::int64_t begin = 0, end = 0;  // positions on the axis; end > begin
  // For a collective, its start; for a block, the first of its nodes in this item; for a kernel,
  // the node that launched it or, in KernelLanes, its first node, if any.
  NodeId node;
  ItemColor color = ItemColor::other;
  // Indices in Measurement::blocks and Measurement::kernels, or -1. Both are -1 for a node. In
  // KernelLanes, `kernel` is an index in SnapshotKernels::rows.
  std::int32_t block = -1, kernel = -1;
};
// The texts of blocks or of kernels, by index in the measurement; those of KernelLanes by row.
using ItemTexts = std::shared_ptr<const std::vector<std::string>>;

// Items sorted by `begin`. They do not overlap, except in a lane of collectives or copies in
// program order or in that of KernelLanes, where several may be in flight, and in a lane of
// measured kernels if a kernel started before the previous one had ended.
class Lane {
 public:
  // `texts`: those of the blocks or kernels; null if all items are nodes.
  Lane(std::string name, GroupId group, std::vector<LaneItem> items, ItemTexts texts = {});

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] GroupId group() const { return group_; }
  [[nodiscard]] std::span<const LaneItem> items() const { return items_; }
  // The text of a block, "compiled joint, 1.20 ms", or the short name of a kernel; null if the item
  // is a node.
  [[nodiscard]] const std::string* text(const LaneItem& item) const {
    const std::int32_t index = item.block >= 0 ? item.block : item.kernel;
    return index < 0 ? nullptr : &(*texts_)[static_cast<std::size_t>(index)];
  }
  // Index of the first item that ends after `position`.
  [[nodiscard]] std::size_t first_ending_after(std::int64_t position) const;
  // Index of the first item that begins at or after `position`.
  [[nodiscard]] std::size_t first_beginning_at(std::int64_t position) const;
  // The total length of items [first, last) by color.
  using TimeByColor = std::array<std::int64_t, kItemColors>;
  [[nodiscard]] TimeByColor times(std::size_t first, std::size_t last) const;

 private:
  std::string name_;
  GroupId group_;
  std::vector<LaneItem> items_;
  ItemTexts texts_;
  std::vector<std::int64_t> ends_;  // running maximum of the ends; sorted even if items overlap
  std::vector<TimeByColor> sums_;   // total length by color of the items before each item
};

// Finds the maximum of any subrange of an array in O(1), using a sparse table over blocks.
class RangeMaximum {
 public:
  explicit RangeMaximum(std::span<const std::int64_t> values);
  // Index of the first maximum in [first, last); first < last.
  [[nodiscard]] std::size_t find(std::size_t first, std::size_t last) const;

 private:
  static constexpr std::size_t kBlock = 16;
  [[nodiscard]] std::size_t better(std::size_t a, std::size_t b) const {
    return values_[b] > values_[a] ? b : a;
  }
  [[nodiscard]] std::size_t scan(std::size_t first, std::size_t last) const;

  std::vector<std::int64_t> values_;
  // levels_[l][b]: index of the first maximum in the 2^l blocks from block b on.
  std::vector<std::vector<std::uint32_t>> levels_;
};

// The points of a curve along an axis: point i applies from positions[i] until positions[i + 1].

// The point that applies at a position; the first one if the position precedes all points.
std::size_t point_at(std::span<const std::int64_t> positions, std::int64_t position);
// The first point that begins at or after a position; positions.size() if there is none.
std::size_t first_point_at(std::span<const std::int64_t> positions, std::int64_t position);
// The point with the maximum of all points that apply anywhere in [begin, end).
std::size_t largest_point(std::span<const std::int64_t> positions, const RangeMaximum& maximum,
                          std::int64_t begin, std::int64_t end);

// The memory profile by point: allocated bytes by category, and reserved bytes. All axes share it.
struct MemoryBands {
  explicit MemoryBands(const Analysis& analysis);

  std::array<std::vector<std::int64_t>, kMemoryCategories> categories;
  std::vector<std::int64_t> reserved;
  RangeMaximum maximum;
};
using MemoryBandsPtr = std::shared_ptr<const MemoryBands>;

class TimelineData {
 public:
  // The estimate, in program order or in estimated time. Computes its own bands if none are given.
  TimelineData(const Graph& graph, const Analysis& analysis, AxisKind kind,
               MemoryBandsPtr bands = {});
  // The measurement, in program order or in measured time. Lanes have the same indices as in the
  // estimate, but contain only measured nodes and blocks; on the time axis, lanes of kernels
  // follow. Memory is still the estimate; on the time axis, it changes at the measured times of
  // nodes or, if no node and no block was measured, at the estimated ones, scaled to the measured
  // step.
  TimelineData(const Graph& graph, const Analysis& analysis, const Measurement& measurement,
               AxisKind kind, MemoryBandsPtr bands);

  [[nodiscard]] AxisKind kind() const { return kind_; }
  // The axis ranges from 0 to this value.
  [[nodiscard]] std::int64_t length() const { return length_; }
  // The CPU, then one lane per stream of the simulation, compute first, then lanes of kernels, if
  // there are any.
  [[nodiscard]] std::span<const Lane> lanes() const { return lanes_; }
  // Index in lanes() of the first lane of kernels, one per stream of the GPU, "stream 7", in
  // ascending order; lanes().size() if there are none.
  [[nodiscard]] std::size_t first_kernel_lane() const { return first_kernel_lane_; }
  // Index in lanes() of the lane of a kernel, given its index in Measurement::kernels; -1 if the
  // kernel is in none.
  [[nodiscard]] std::int32_t lane_of_kernel(std::size_t kernel) const {
    return kernel < lane_by_kernel_.size() ? lane_by_kernel_[kernel] : -1;
  }

  // The points of the memory profile on the axis.
  [[nodiscard]] std::size_t point_count() const { return positions_.size(); }
  [[nodiscard]] std::int64_t position(std::size_t point) const { return positions_[point]; }
  [[nodiscard]] std::size_t point_at(std::int64_t position) const {
    return views::point_at(positions_, position);
  }
  [[nodiscard]] std::size_t first_point_at(std::int64_t position) const {
    return views::first_point_at(positions_, position);
  }
  [[nodiscard]] std::size_t largest_point(std::int64_t begin, std::int64_t end) const {
    return views::largest_point(positions_, bands_->maximum, begin, end);
  }
  [[nodiscard]] std::int64_t bytes(MemoryCategory category, std::size_t point) const {
    return bands_->categories[static_cast<std::size_t>(category)][point];
  }
  [[nodiscard]] std::int64_t reserved(std::size_t point) const { return bands_->reserved[point]; }
  [[nodiscard]] const MemoryBandsPtr& bands() const { return bands_; }

  // The extent of a node on the axis; empty if the node is not on the axis.
  struct Extent {
    std::int64_t begin = 0, end = 0;
  };
  [[nodiscard]] Extent extent(NodeId node) const {
    return node && node.index() < extents_.size() ? extents_[node.index()] : Extent();
  }
  // Index in lanes() of the lane with the node itself, or -1. Never a lane of kernels.
  [[nodiscard]] std::int32_t lane_of(NodeId node) const {
    return node && node.index() < lane_by_node_.size() ? lane_by_node_[node.index()] : -1;
  }

 private:
  void place_in_program_order(const Graph& graph, const Analysis& analysis);
  void place_in_time(const Graph& graph, const Analysis& analysis);
  void place_measured(const Graph& graph, const Analysis& analysis, const Measurement& measurement);
  static std::vector<Extent> extents_in_blocks(const Graph& graph, const Analysis& analysis,
                                               const Measurement& measurement);
  void place_blocks(const Graph& graph, const Analysis& analysis, const Measurement& measurement,
                    std::vector<std::vector<LaneItem>>& lanes);
  void place_kernels(const Graph& graph, const Analysis& analysis, const Measurement& measurement);
  void place_points_by_measured_time(const Graph& graph, const Analysis& analysis,
                                     const Measurement& measurement);
  void place_points_by_step(std::size_t steps);
  void build_lanes(const Analysis& analysis, std::vector<std::vector<LaneItem>> items,
                   const ItemTexts& blocks = {});

  AxisKind kind_;
  std::int64_t length_ = 1;
  std::vector<Lane> lanes_;
  std::size_t first_kernel_lane_ = 0;
  std::vector<std::int32_t> lane_by_kernel_;  // empty if there are no lanes of kernels
  std::vector<std::int64_t> positions_;
  MemoryBandsPtr bands_;
  std::vector<Extent> extents_;
  std::vector<std::int32_t> lane_by_node_;
};

}  // namespace jointer::views
