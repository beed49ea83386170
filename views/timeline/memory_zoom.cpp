#include "views/timeline/memory_zoom.h"

#include <algorithm>
#include <cmath>

namespace jointer::views {

BytesView MemoryZoom::of(std::int64_t top_bytes) const {
  const auto whole = static_cast<double>(top_bytes);
  return {std::llround(low_ * whole), shows_all() ? top_bytes : std::llround(high_ * whole)};
}

void MemoryZoom::zoom_at(double position, double factor) {
  const double span = std::clamp((high_ - low_) / factor, 1 / kMax, 1.0);
  const double fixed = low_ + position * (high_ - low_);
  place(fixed - position * span, span);
}

void MemoryZoom::pan(double share) {
  const double span = high_ - low_;
  place(low_ + share * span, span);
}

void MemoryZoom::place(double low, double span) {
  low_ = std::clamp(low, 0.0, 1 - span);
  high_ = low_ + span;
}

}  // namespace jointer::views
