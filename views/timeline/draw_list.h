#pragma once

// What of a timeline is visible at a zoom, as pixel columns. Bounded by the screen's width, however
// many nodes there are: what is narrower than three pixels is folded with its neighbours. No Qt.

#include <cstddef>
#include <vector>

#include "views/timeline/axis_view.h"
#include "views/timeline/measured_timeline.h"
#include "views/timeline/timeline_data.h"

namespace jointer::views {

// Items [first, last) of a lane, drawn from column `left` up to column `right`. Folded runs are
// drawn as a stack of the colours in them, by their share of the time.
struct LaneRun {
  int left = 0, right = 0;
  std::size_t first = 0, last = 0;

  [[nodiscard]] bool is_folded() const { return last - first > 1; }
};

// Runs from left to right. Columns are those of the axis view's pixels, clipped to them.
std::vector<LaneRun> fold_lane(const Lane& lane, const AxisView& axis);

// Columns [left, right) of the memory curve that show one point: the one with the most bytes among
// those that fall into the column.
struct MemoryRun {
  int left = 0, right = 0;
  std::size_t point = 0;
};
std::vector<MemoryRun> memory_columns(const TimelineData& data, const AxisView& axis);
// The same of a measured curve, from its first point to its end.
std::vector<MemoryRun> memory_columns(const MeasuredCurve& curve, const AxisView& axis);

}  // namespace jointer::views
