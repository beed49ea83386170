#pragma once

// Where the places that a held block may go to are on an axis. Plain numbers, no Qt.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "views/edit/move_preview.h"
#include "views/timeline/axis_view.h"
#include "views/timeline/timeline_data.h"

namespace jointer::views {

class GapScale {
 public:
  // A gap stands where the node behind it begins, as `data` has it without the move: what is under
  // the pointer does not run away from it while the lanes change.
  GapScale(const Graph& graph, const Analysis& analysis, const TimelineData& data,
           std::span<const NodeId> block, const MovePreview& preview);

  [[nodiscard]] std::int64_t position(std::size_t gap) const { return positions_[gap - first_]; }
  [[nodiscard]] std::size_t first() const { return first_; }
  [[nodiscard]] std::size_t last() const { return first_ + positions_.size() - 1; }
  // The nearest gap, the earliest of several. Clamped to the range.
  [[nodiscard]] std::size_t gap_at(double position) const;
  // The nearest one of those worth going to within `pixels`, else `gap_at`.
  [[nodiscard]] std::size_t snapped(double position, const BestGaps& best, const AxisView& axis,
                                    double pixels) const;

  // Gaps that fall into one column of pixels: [first, last].
  struct Column {
    int x = 0;
    std::size_t first = 0, last = 0;
  };
  // Columns of what is on screen, from left to right.
  [[nodiscard]] std::vector<Column> columns(const AxisView& axis) const;

 private:
  std::size_t first_;
  std::vector<std::int64_t> positions_;
};

}  // namespace jointer::views
