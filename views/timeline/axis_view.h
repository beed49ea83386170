#pragma once

#include <cstdint>
#include <vector>

namespace jointer::views {

// Which stretch of an axis is on screen, and where: positions (steps or nanoseconds) to pixels and
// back. Plain numbers, so that zooming is tested without a window.
class AxisView {
 public:
  explicit AxisView(std::int64_t length = 1) { set_length(length); }

  // Shows all of a new axis.
  void set_length(std::int64_t length);
  // Where the axis is drawn: `width` pixels from `left`.
  void set_pixels(double left, double width);

  [[nodiscard]] double begin() const { return begin_; }
  [[nodiscard]] double end() const { return end_; }
  [[nodiscard]] std::int64_t length() const { return length_; }
  [[nodiscard]] double left() const { return left_; }
  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double pixels_per_unit() const { return width_ / (end_ - begin_); }
  [[nodiscard]] bool shows_all() const;

  [[nodiscard]] double to_pixel(double position) const {
    return left_ + (position - begin_) * pixels_per_unit();
  }
  [[nodiscard]] double to_position(double pixel) const {
    return begin_ + (pixel - left_) / pixels_per_unit();
  }

  // The position under the pixel stays where it is; factors above 1 zoom in.
  void zoom_at(double pixel, double factor);
  void pan_by(double pixels);
  void fit() { show(0, static_cast<double>(length_)); }
  // Shows [begin, end], with a little room around it where `margin` says how much of its length.
  void show(double begin, double end, double margin = 0);
  // Moves as little as needed to bring [begin, end] on screen.
  void reveal(double begin, double end);

 private:
  void clamp();

  std::int64_t length_ = 1;
  double begin_ = 0, end_ = 1, left_ = 0, width_ = 1;
};

// A tick of a ruler. Major ticks carry labels.
struct Tick {
  double position = 0;
  bool major = false;
};

// Ticks at round numbers (1, 2, 5 times a power of ten; powers of two for bytes), majors at least
// `least_pixels` apart.
std::vector<Tick> ruler_ticks(double begin, double end, double pixels, double least_pixels);
// For bytes: 1, 2, 4, ... of binary units.
std::vector<double> byte_ticks(std::int64_t top, double pixels, double least_pixels);

}  // namespace jointer::views
