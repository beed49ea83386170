#pragma once

// The memory curve of a plan over a joint graph's axis, as pixel columns. Bounded by the screen's
// width. No Qt.

#include <vector>

#include "views/sac/plan_outcome.h"
#include "views/timeline/axis_view.h"
#include "views/timeline/draw_list.h"
#include "views/timeline/timeline_data.h"

namespace jointer::views {

class PlanTrack {
 public:
  // Both must outlive it. `outcome` has steps, and is placed over the graph that `data` is of.
  PlanTrack(const PlanOutcome& outcome, const TimelineData& data)
      : outcome_(outcome), data_(data) {}

  // What is visible; a run's point is the step of the pair with the most bytes of those that fall
  // into its columns.
  [[nodiscard]] std::vector<MemoryRun> columns(const AxisView& axis) const;
  // The step of the pair that has the most bytes while the axis is in [begin, end).
  [[nodiscard]] std::size_t largest_step(double begin, double end) const;
  [[nodiscard]] std::int64_t bytes(std::size_t step) const {
    return outcome_.profile[1 + 2 * step];
  }
  [[nodiscard]] std::size_t peak_step() const;
  // Where on the axis a step begins.
  [[nodiscard]] double position(std::size_t step) const;

 private:
  [[nodiscard]] std::size_t step_count() const { return outcome_.places.size() - 1; }
  // The last step that begins at a position of the axis or before it.
  [[nodiscard]] std::size_t step_at(double position) const;

  const PlanOutcome& outcome_;
  const TimelineData& data_;
};

}  // namespace jointer::views
