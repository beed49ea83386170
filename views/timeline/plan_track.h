#pragma once

// The memory curve of a plan along the axis of its joint graph or flat training step, as pixel
// columns. The cost is bounded by the screen width. Does not use Qt.

#include <vector>

#include "core/schedule/memory_walk.h"
#include "views/session/sac/plan_outcome.h"
#include "views/session/snapshot/timeline_data.h"
#include "views/widgets/axis_view.h"
#include "views/widgets/draw_list.h"

namespace jointer::views {

class PlanTrack {
 public:
  // Both arguments must outlive this object. `outcome` must have steps, and belong to the graph of
  // `data`.
  PlanTrack(const PlanOutcome& outcome, const TimelineData& data)
      : outcome_(outcome), data_(data) {}

  // The visible columns, grouped into runs that have the same point. The point of a column is the
  // step of the plan's memory timeline with the most memory in that column.
  [[nodiscard]] std::vector<MemoryRun> columns(const AxisView& axis) const;
  // The step of the plan's memory timeline with the most memory in the axis range [begin, end).
  [[nodiscard]] std::size_t largest_step(double begin, double end) const;
  [[nodiscard]] std::int64_t bytes(std::size_t step) const {
    return outcome_.profile[point_of_step(step)];
  }
  [[nodiscard]] std::size_t peak_step() const;
  // The position of a step's start on the axis.
  [[nodiscard]] double position(std::size_t step) const;

 private:
  [[nodiscard]] std::size_t step_count() const { return outcome_.places.size() - 1; }
  // The last step that begins at or before a position on the axis.
  [[nodiscard]] std::size_t step_at(double position) const;

  const PlanOutcome& outcome_;
  const TimelineData& data_;
};

}  // namespace jointer::views
