#pragma once

// What a person needs to know of every place where something could go. No Qt.

#include <cstdint>

#include "core/schedule/what_if.h"

namespace jointer::views {

struct MovePreview {
  RangePreview range;
  BestGaps best;

  MovePreview() = default;
  // `peak_limit`: what places may take to be the best ones.
  MovePreview(RangePreview preview, std::int64_t peak_limit);

  [[nodiscard]] std::size_t first() const { return range.range.first; }
  [[nodiscard]] std::size_t last() const { return range.range.last; }
  [[nodiscard]] std::size_t current() const { return range.range.current; }
  [[nodiscard]] const Figures& at(std::size_t gap) const { return range.at[gap - first()]; }
  [[nodiscard]] std::size_t clamp(std::size_t gap) const;
  // The nearest gap in that direction whose figures differ from those at `gap`; the last one there
  // is, if none does.
  [[nodiscard]] std::size_t next_change(std::size_t gap, int direction) const;
};

}  // namespace jointer::views
