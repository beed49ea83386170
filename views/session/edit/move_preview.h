#pragma once

// The figures of every place that a block could move to. No Qt.

#include <cstdint>

#include "core/schedule/what_if.h"

namespace jointer::views {

struct MovePreview {
  RangePreview range;
  BestGaps best;

  MovePreview() = default;
  // `peak_limit`: the peak memory that the best places may not exceed.
  MovePreview(RangePreview preview, std::int64_t peak_limit);

  [[nodiscard]] std::size_t first() const { return range.range.first; }
  [[nodiscard]] std::size_t last() const { return range.range.last; }
  [[nodiscard]] std::size_t current() const { return range.range.current; }
  [[nodiscard]] const Figures& at(std::size_t gap) const { return range.at[gap - first()]; }
  [[nodiscard]] std::size_t clamp(std::size_t gap) const;
  // The nearest gap in that direction with figures that differ from those at `gap`, or else the
  // last gap.
  [[nodiscard]] std::size_t next_change(std::size_t gap, int direction) const;
};

}  // namespace jointer::views
