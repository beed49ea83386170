#pragma once

#include <QPainter>
#include <QRect>

#include "views/theme/theme.h"
#include "views/timeline/axis_view.h"
#include "views/timeline/timeline_data.h"

namespace jointer::views {

// Paints the stacked memory curve: one rectangle a category and pixel column at most.
class MemoryTrack {
 public:
  // `top_bytes`: what the upper edge stands for.
  MemoryTrack(const TimelineData& data, const AxisView& axis, QRect area, std::int64_t top_bytes,
              const Theme& theme)
      : data_(data), axis_(axis), area_(area), top_bytes_(top_bytes), theme_(theme) {}

  // Labels of the scale, left of the area.
  void paint_scale(QPainter& painter) const;
  // The whole area: background, grid, curve; with `hatched` also what tells categories apart in
  // greyscale.
  void paint_curve(QPainter& painter, bool hatched = true) const;
  // What the allocator reserves, as a line above the curve.
  void paint_reserved(QPainter& painter) const;

  [[nodiscard]] int y_of(std::int64_t bytes) const;
  [[nodiscard]] std::int64_t bytes_at(int y) const;

 private:
  const TimelineData& data_;
  const AxisView& axis_;
  QRect area_;
  std::int64_t top_bytes_;
  const Theme& theme_;
};

}  // namespace jointer::views
