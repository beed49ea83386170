#pragma once

// The figures at every place that a block could move to. No Qt.

#include <cstdint>

#include "core/schedule/what_if.h"

namespace jointer::views {

struct MovePreview {
  RangePreview range;
  BestGaps best;

  MovePreview() = default;
  // `peak_limit`: the best places may not exceed this peak memory.
  MovePreview(RangePreview preview, std::int64_t peak_limit);

  [[nodiscard]] std::size_t first() const { return range.range.first; }
  [[nodiscard]] std::size_t last() const { return range.range.last; }
  [[nodiscard]] std::size_t current() const { return range.range.current; }
  [[nodiscard]] const Figures& at(std::size_t gap) const { return range.at[gap - first()]; }
  [[nodiscard]] std::size_t clamp(std::size_t gap) const;
  // The nearest gap in that direction whose figures differ from those at `gap`, or the last gap in
  // that direction if there is none.
  [[nodiscard]] std::size_t next_change(std::size_t gap, int direction) const;
};

}  // namespace jointer::views
