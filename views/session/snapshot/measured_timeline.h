#pragma once

// A measurement prepared for drawing over the estimate at any zoom level. Does not use Qt.

#include <memory>
#include <span>
#include <vector>

#include "core/bench/measurement.h"
#include "views/session/snapshot/timeline_data.h"

namespace jointer::views {

using MeasurementPtr = std::shared_ptr<const Measurement>;

// Measured bytes by point along an axis; the last point applies until end().
class MeasuredCurve {
 public:
  MeasuredCurve() = default;
  // Positions must ascend; `bytes` must have the same size.
  MeasuredCurve(std::vector<std::int64_t> positions, std::vector<std::int64_t> bytes,
                std::int64_t end);

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] std::int64_t begin() const { return positions_.front(); }
  [[nodiscard]] std::int64_t end() const { return end_; }
  [[nodiscard]] std::int64_t position(std::size_t point) const { return positions_[point]; }
  [[nodiscard]] std::int64_t bytes(std::size_t point) const { return bytes_[point]; }
  [[nodiscard]] std::size_t point_at(std::int64_t position) const {
    return views::point_at(positions_, position);
  }
  [[nodiscard]] std::size_t largest_point(std::int64_t begin, std::int64_t end) const {
    return views::largest_point(positions_, maximum_, begin, end);
  }
  // The first point with the overall maximum.
  [[nodiscard]] std::size_t peak() const { return maximum_.find(0, bytes_.size()); }

 private:
  std::vector<std::int64_t> positions_, bytes_;
  std::int64_t end_ = 0;
  RangeMaximum maximum_{std::span<const std::int64_t>()};
};

class MeasuredTimeline {
 public:
  // `bands`: shared with the axes of the estimate.
  MeasuredTimeline(const Graph& graph, const Analysis& analysis, MeasurementPtr measurement,
                   const MemoryBandsPtr& bands);

  [[nodiscard]] const Measurement& measurement() const { return *measurement_; }
  [[nodiscard]] const MeasurementPtr& shared_measurement() const { return measurement_; }
  // `kind`: program_order or measured_time.
  [[nodiscard]] const TimelineData& timeline(AxisKind kind) const {
    return kind == AxisKind::program_order ? program_order_ : time_;
  }
  // Empty if the measurement has no curve for that axis. A memory profile counts only if it has as
  // many points as that of the graph.
  [[nodiscard]] const MeasuredCurve& curve(AxisKind kind) const {
    return kind == AxisKind::program_order ? order_curve_ : time_curve_;
  }
  // Null if the node was not measured, or if its time is meaningless, as for a collective on a
  // single rank.
  [[nodiscard]] const MeasuredNode* find(NodeId node) const;
  // The compiled block that ran in place of the node; null if there is none.
  [[nodiscard]] const MeasuredBlock* block_of(NodeId node) const;
  // The kernels that the node launched, as indices in Measurement::kernels, ordered by start.
  [[nodiscard]] std::span<const std::uint32_t> kernels_of(NodeId node) const;
  // The measured peak if known, otherwise the maximum of the curves; 0 if no memory was measured.
  [[nodiscard]] std::int64_t peak_bytes() const { return peak_bytes_; }

 private:
  void index_kernels(std::size_t node_count);

  MeasurementPtr measurement_;
  TimelineData program_order_, time_;
  MeasuredCurve order_curve_, time_curve_;
  std::vector<std::int32_t> by_node_;        // index in the measurement's nodes, or -1
  std::vector<std::int32_t> block_by_node_;  // index in the measurement's blocks, or -1
  // The kernels of node n begin at kernels_by_node_[first_kernel_[n]] and end before those of node
  // n + 1.
  std::vector<std::uint32_t> kernels_by_node_, first_kernel_;
  std::int64_t peak_bytes_ = 0;
};
using MeasuredTimelinePtr = std::shared_ptr<const MeasuredTimeline>;

}  // namespace jointer::views
