#include "views/widgets/axis_view.h"

#include <algorithm>
#include <cmath>

namespace jointer::views {
namespace {

// The maximum zoom shows four calls or four nanoseconds.
constexpr double kMinSpan = 4;

// The smallest number that is at least `min` and is 1, 2 or 5 times a power of ten.
double round_step(double min) {
  const double power = std::pow(10.0, std::floor(std::log10(min)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= min * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

}  // namespace

void AxisView::set_length(std::int64_t length) {
  length_ = std::max<std::int64_t>(length, 1);
  fit();
}

void AxisView::set_pixels(double left, double width) {
  left_ = left;
  width_ = std::max(width, 1.0);
}

void AxisView::zoom_at(double pixel, double factor) {
  const double anchor = to_position(pixel);
  const double whole = static_cast<double>(length_);
  const double span = std::clamp((end_ - begin_) / factor, std::min(kMinSpan, whole), whole);
  const double share = (pixel - left_) / width_;
  begin_ = anchor - share * span;
  end_ = begin_ + span;
  clamp();
}

void AxisView::pan_by(double pixels) {
  const double distance = pixels / pixels_per_unit();
  begin_ += distance;
  end_ += distance;
  clamp();
}

void AxisView::show(double begin, double end, double margin) {
  const double room = (end - begin) * margin;
  const double whole = static_cast<double>(length_);
  const double min_span = std::min(kMinSpan, whole);
  begin_ = begin - room;
  end_ = end + room;
  if (end_ - begin_ < min_span) {
    const double middle = (begin_ + end_) / 2;
    begin_ = middle - min_span / 2;
    end_ = middle + min_span / 2;
  }
  clamp();
}

void AxisView::reveal(double begin, double end) {
  const double span = end_ - begin_;
  if (end - begin > span) return show(begin, end, 0.1);
  const double room = std::min(span * 0.1, (span - (end - begin)) / 2);
  if (begin < begin_) {
    begin_ = begin - room;
    end_ = begin_ + span;
  } else if (end > end_) {
    end_ = end + room;
    begin_ = end_ - span;
  }
  clamp();
}

void AxisView::clamp() {
  const double whole = static_cast<double>(length_);
  const double span = std::min(end_ - begin_, whole);
  begin_ = std::clamp(begin_, 0.0, whole - span);
  end_ = begin_ + span;
}

std::vector<Tick> ruler_ticks(double begin, double end, double pixels, double min_pixels) {
  std::vector<Tick> ticks;
  if (!(end > begin) || pixels <= 0) return ticks;
  const double major = std::max(round_step((end - begin) * min_pixels / pixels), 1.0);
  const double minor = major >= 5 ? major / 5 : major;
  // Multiply, since repeated addition would accumulate errors.
  const auto first = static_cast<std::int64_t>(std::ceil(begin / minor - 1e-9));
  const auto last = static_cast<std::int64_t>(std::floor(end / minor + 1e-9));
  const auto per_major = static_cast<std::int64_t>(std::llround(major / minor));
  for (std::int64_t i = first; i <= last; ++i)
    ticks.push_back({static_cast<double>(i) * minor, i % per_major == 0});
  return ticks;
}

std::vector<double> byte_ticks(std::int64_t top, double pixels, double min_pixels) {
  std::vector<double> ticks;
  if (top <= 0 || pixels <= 0) return ticks;
  const auto whole = static_cast<double>(top);
  const double step = std::exp2(std::ceil(std::log2(std::max(whole * min_pixels / pixels, 1.0))));
  const auto count = static_cast<std::size_t>(whole / step);
  ticks.reserve(count);
  for (std::size_t i = 1; i <= count; ++i) ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

}  // namespace jointer::views
