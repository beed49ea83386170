#pragma once

// What the timeline draws, prepared once for any zoom: lanes as sorted items with prefix sums, the
// memory curve with a range-maximum index. No Qt; the mapping to pixels is timeline_axis.h.

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

// The horizontal axes. A position on the axis is a whole number: a step (program order), or a
// nanosecond from the step's start, as it is estimated or as it was measured.
enum class AxisKind : std::uint8_t { program_order, estimated_time, measured_time };

// What a colour stands for in a lane.
enum class ItemColor : std::uint8_t {
  host,
  matmul,
  attention,
  memory,  // pointwise, reductions, copies: bound by memory
  other,
  stall,
  all_gather,
  reduce_scatter,
  all_reduce,
  all_to_all,
  broadcast,
};
inline constexpr std::size_t kItemColors = 11;

struct LaneItem {
  std::int64_t begin = 0, end = 0;  // on the axis; end > begin
  NodeId node;                      // of a collective: its start
  ItemColor color = ItemColor::other;
};

// Items in order of their begin; no item begins before the last one ends, except in a lane of
// collectives in program order, where several may be in flight (see `overlapping`).
class Lane {
 public:
  Lane(std::string name, GroupId group, std::vector<LaneItem> items);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] GroupId group() const { return group_; }
  [[nodiscard]] std::span<const LaneItem> items() const { return items_; }
  // First item that ends after `position`.
  [[nodiscard]] std::size_t first_ending_after(std::int64_t position) const;
  // First item that begins at or after `position`.
  [[nodiscard]] std::size_t first_beginning_at(std::int64_t position) const;
  // Time by colour of items [first, last).
  using TimeByColor = std::array<std::int64_t, kItemColors>;
  [[nodiscard]] TimeByColor times(std::size_t first, std::size_t last) const;

 private:
  std::string name_;
  GroupId group_;
  std::vector<LaneItem> items_;
  std::vector<std::int64_t> ends_;  // running maximum of the ends: sorted even where items overlap
  std::vector<TimeByColor> sums_;   // time by colour before each item
};

// Finds the largest value of any stretch of an array in O(1): a sparse table over blocks.
class RangeMaximum {
 public:
  explicit RangeMaximum(std::span<const std::int64_t> values);
  // Index of the first largest value in [first, last); first < last.
  [[nodiscard]] std::size_t find(std::size_t first, std::size_t last) const;

 private:
  static constexpr std::size_t kBlock = 16;
  [[nodiscard]] std::size_t better(std::size_t a, std::size_t b) const {
    return values_[b] > values_[a] ? b : a;
  }
  [[nodiscard]] std::size_t scan(std::size_t first, std::size_t last) const;

  std::vector<std::int64_t> values_;
  std::vector<std::vector<std::uint32_t>> levels_;  // level l: best of 2^l blocks from each block
};

// The stacked memory profile, by point. It is the same on every axis, so they share one.
struct MemoryBands {
  explicit MemoryBands(const Analysis& analysis);

  std::array<std::vector<std::int64_t>, kMemoryCategories> categories;
  std::vector<std::int64_t> reserved;
  RangeMaximum maximum;
};
using MemoryBandsPtr = std::shared_ptr<const MemoryBands>;

class TimelineData {
 public:
  // What is estimated, in program order or in estimated time. Without `bands` it makes its own.
  TimelineData(const Graph& graph, const Analysis& analysis, AxisKind kind,
               MemoryBandsPtr bands = {});
  // What was measured, in program order or in measured time: lanes have only nodes that were
  // measured, and the same places among the lanes as those of the estimate. Memory is still the
  // estimate's, at the moments when its nodes were measured to run.
  TimelineData(const Graph& graph, const Analysis& analysis, const Measurement& measurement,
               AxisKind kind, MemoryBandsPtr bands);

  [[nodiscard]] AxisKind kind() const { return kind_; }
  // The axis runs from 0 to this.
  [[nodiscard]] std::int64_t length() const { return length_; }
  // cpu, compute, then one a process group.
  [[nodiscard]] std::span<const Lane> lanes() const { return lanes_; }

  // The memory profile's points on the axis: point i holds from position(i) to position(i + 1).
  [[nodiscard]] std::size_t point_count() const { return positions_.size(); }
  [[nodiscard]] std::int64_t position(std::size_t point) const { return positions_[point]; }
  // The point that holds at a position.
  [[nodiscard]] std::size_t point_at(std::int64_t position) const;
  // The point with the most bytes among those that hold anywhere in [begin, end).
  [[nodiscard]] std::size_t largest_point(std::int64_t begin, std::int64_t end) const;
  [[nodiscard]] std::int64_t bytes(MemoryCategory category, std::size_t point) const {
    return bands_->categories[static_cast<std::size_t>(category)][point];
  }
  [[nodiscard]] std::int64_t reserved(std::size_t point) const { return bands_->reserved[point]; }
  [[nodiscard]] const MemoryBandsPtr& bands() const { return bands_; }

  // Where a node stands on the axis: its own extent in its lane.
  struct Extent {
    std::int64_t begin = 0, end = 0;
  };
  [[nodiscard]] Extent extent(NodeId node) const { return extents_[node.index()]; }
  // Index into lanes() of the node's lane, or -1.
  [[nodiscard]] std::int32_t lane_of(NodeId node) const { return lane_by_node_[node.index()]; }

 private:
  void place_in_program_order(const Graph& graph, const Analysis& analysis);
  void place_in_time(const Graph& graph, const Analysis& analysis);
  void place_measured(const Graph& graph, const Analysis& analysis, const Measurement& measurement);
  void place_points_by_measured_time(const Graph& graph, const Analysis& analysis,
                                     const Measurement& measurement);
  void place_points_by_step(std::size_t steps);
  void build_lanes(const Analysis& analysis, std::vector<std::vector<LaneItem>> items);

  AxisKind kind_;
  std::int64_t length_ = 1;
  std::vector<Lane> lanes_;
  std::vector<std::int64_t> positions_;
  MemoryBandsPtr bands_;
  std::vector<Extent> extents_;
  std::vector<std::int32_t> lane_by_node_;
};

}  // namespace jointer::views
