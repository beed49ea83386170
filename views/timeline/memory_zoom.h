#pragma once

#include <cstdint>

namespace jointer::views {

// The bytes at the lower and the upper edge of the visible part of the memory axis.
struct BytesView {
  std::int64_t bottom = 0, top = 1;

  [[nodiscard]] std::int64_t span() const { return top > bottom ? top - bottom : 1; }
};

// The visible part of the memory axis, as fractions of the whole axis, so that it stays the same if
// the axis changes. Plain numbers; positions are fractions of the visible part, measured from its
// bottom.
class MemoryZoom {
 public:
  static constexpr double kMax = 64;

  [[nodiscard]] bool shows_all() const { return low_ <= 0 && high_ >= 1; }
  // The visible bytes of an axis that ends at `top_bytes`.
  [[nodiscard]] BytesView of(std::int64_t top_bytes) const;

  // Zooms around a position, which keeps its bytes; factors above 1 zoom in.
  void zoom_at(double position, double factor);
  // Pans up by a fraction of the visible part, or down if the fraction is negative.
  void pan(double share);
  void reset() { low_ = 0, high_ = 1; }

 private:
  void place(double low, double span);

  double low_ = 0, high_ = 1;
};

}  // namespace jointer::views
