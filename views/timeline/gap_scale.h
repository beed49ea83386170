#pragma once

// The positions on an axis of the gaps to which a held block can move. Does not use Qt.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "views/session/edit/block_move.h"
#include "views/session/snapshot/timeline_data.h"
#include "views/widgets/axis_view.h"

namespace jointer::views {

class GapScale {
 public:
  // Places each gap at the start of the node that follows it. `data` does not include the move, so
  // the gaps stay in place under the pointer while the lanes change.
  GapScale(const Graph& graph, const Analysis& analysis, const TimelineData& data,
           std::span<const NodeId> block, const MovePreview& preview);

  [[nodiscard]] std::int64_t position(std::size_t gap) const { return positions_[gap - first_]; }
  [[nodiscard]] std::size_t first() const { return first_; }
  [[nodiscard]] std::size_t last() const { return first_ + positions_.size() - 1; }
  // The gap nearest to a position, clamped to the range; the earliest if several are equally near.
  [[nodiscard]] std::size_t gap_at(double position) const;
  // The nearest of the best gaps if it is within `pixels`, otherwise the result of `gap_at`.
  [[nodiscard]] std::size_t snapped(double position, const BestGaps& best, const AxisView& axis,
                                    double pixels) const;

  // The gaps in one pixel column: [first, last].
  struct Column {
    int x = 0;
    std::size_t first = 0, last = 0;
  };
  // The visible columns from left to right.
  [[nodiscard]] std::vector<Column> columns(const AxisView& axis) const;

 private:
  std::size_t first_;
  std::vector<std::int64_t> positions_;
};

}  // namespace jointer::views
