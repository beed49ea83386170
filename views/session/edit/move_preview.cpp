#include "views/session/edit/move_preview.h"

#include <algorithm>

namespace jointer::views {

MovePreview::MovePreview(RangePreview preview, std::int64_t peak_limit)
    : range(std::move(preview)), best(best_gaps(range, peak_limit)) {}

std::size_t MovePreview::clamp(std::size_t gap) const {
  return std::clamp(gap, first(), last());
}

std::size_t MovePreview::next_change(std::size_t gap, int direction) const {
  const std::size_t end = direction < 0 ? first() : last();
  std::size_t next = gap;
  while (next != end) {
    next = direction < 0 ? next - 1 : next + 1;
    if (at(next) != at(gap)) break;
  }
  return next;
}

}  // namespace jointer::views
