#pragma once

#include <QPainter>
#include <QRect>
#include <vector>

#include "views/theme/theme.h"
#include "views/timeline/axis_view.h"
#include "views/timeline/draw_list.h"
#include "views/timeline/measured_timeline.h"
#include "views/timeline/plan_track.h"
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
  // The upper edge of another state's curve: `profile` by point of `data`.
  void paint_outline(QPainter& painter, const TimelineData& data,
                     std::span<const std::int64_t> profile, const QColor& color) const;
  // What was measured, as a strong line over the estimate.
  void paint_measured(QPainter& painter, const MeasuredCurve& curve) const;
  // What a plan comes to, as a strong line over the estimate; dashed what it would come to.
  void paint_plan(QPainter& painter, const PlanTrack& plan, bool dashed) const;

  [[nodiscard]] int y_of(std::int64_t bytes) const;
  [[nodiscard]] std::int64_t bytes_at(int y) const;

 private:
  // Over every colour of the stack.
  void paint_strong(QPainter& painter, std::vector<QRect> edges, const QColor& color) const;
  template <class BytesAt>
  [[nodiscard]] std::vector<QRect> outline(const std::vector<MemoryRun>& runs, BytesAt bytes_at,
                                           int width) const;

  const TimelineData& data_;
  const AxisView& axis_;
  QRect area_;
  std::int64_t top_bytes_;
  const Theme& theme_;
};

}  // namespace jointer::views
