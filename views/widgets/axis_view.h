#pragma once

#include <cstdint>
#include <vector>

namespace jointer::views {

// The visible range of an axis and its position on screen: converts between axis positions (calls
// or nanoseconds) and pixels. Plain numbers, so that zooming can be tested without a window.
class AxisView {
 public:
  explicit AxisView(std::int64_t length = 1) { set_length(length); }

  // Sets a new axis length and shows all of it.
  void set_length(std::int64_t length);
  // Maps the visible range to [`left`, `left + width`), in pixels.
  void set_pixels(double left, double width);

  [[nodiscard]] double begin() const { return begin_; }
  [[nodiscard]] double end() const { return end_; }
  [[nodiscard]] std::int64_t length() const { return length_; }
  [[nodiscard]] double left() const { return left_; }
  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double pixels_per_unit() const { return width_ / (end_ - begin_); }
  [[nodiscard]] bool shows_all() const {
    return begin_ <= 0 && end_ >= static_cast<double>(length_);
  }

  [[nodiscard]] double to_pixel(double position) const {
    return left_ + (position - begin_) * pixels_per_unit();
  }
  [[nodiscard]] double to_position(double pixel) const {
    return begin_ + (pixel - left_) / pixels_per_unit();
  }

  // Zooms around a pixel, which keeps its position; factors above 1 zoom in.
  void zoom_at(double pixel, double factor);
  void pan_by(double pixels);
  void fit() { show(0, static_cast<double>(length_)); }
  // Shows [begin, end] with a margin on both sides, given as a fraction of the range.
  void show(double begin, double end, double margin = 0);
  // Scrolls to show [begin, end] with a margin, unless it is visible. Zooms out if it does not fit.
  void reveal(double begin, double end);

 private:
  void clamp();

  std::int64_t length_ = 1;
  double begin_ = 0, end_ = 1, left_ = 0, width_ = 1;
};

// A tick on a ruler. Major ticks have labels.
struct Tick {
  double position = 0;
  bool major = false;
};

// Ticks for a range that is `pixels` wide. Major ticks are multiples of 1, 2 or 5 times a power of
// ten and at least `min_pixels` apart. Minor ticks divide the distance between major ticks into
// five parts if it is at least 5.
std::vector<Tick> ruler_ticks(double begin, double end, double pixels, double min_pixels);
// Ticks for bytes up to `top`: multiples of a power of two, at least `min_pixels` apart.
std::vector<double> byte_ticks(std::int64_t top, double pixels, double min_pixels);

}  // namespace jointer::views
