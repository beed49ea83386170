#pragma once

// The visible parts of a timeline at a zoom level, as pixel columns. The cost is bounded by the
// screen width, however many nodes there are: items narrower than three pixels are folded with
// their neighbors. Does not use Qt.

#include <cstddef>
#include <vector>

#include "views/session/snapshot/measured_timeline.h"
#include "views/session/snapshot/timeline_data.h"
#include "views/widgets/axis_view.h"

namespace jointer::views {

// Items [first, last) of a lane, drawn in columns [left, right). A folded run is drawn as a stack
// of its items' colors, in proportion to their time.
struct LaneRun {
  int left = 0, right = 0;
  std::size_t first = 0, last = 0;

  [[nodiscard]] bool is_folded() const { return last - first > 1; }
};

// The visible runs from left to right, in pixel columns of `axis`.
std::vector<LaneRun> fold_lane(const Lane& lane, const AxisView& axis);

// Columns [left, right) of the memory curve that show the same point, which has the maximum bytes
// in each of these columns.
struct MemoryRun {
  int left = 0, right = 0;
  std::size_t point = 0;
};
std::vector<MemoryRun> memory_columns(const TimelineData& data, const AxisView& axis);
// The runs of a measured curve, from its first point to its end.
std::vector<MemoryRun> memory_columns(const MeasuredCurve& curve, const AxisView& axis);

}  // namespace jointer::views
