#pragma once

#include <QPainter>
#include <QRect>
#include <optional>
#include <vector>

#include "views/session/snapshot/measured_timeline.h"
#include "views/session/snapshot/timeline_data.h"
#include "views/theme/theme.h"
#include "views/timeline/memory_zoom.h"
#include "views/timeline/plan_track.h"
#include "views/widgets/axis_view.h"
#include "views/widgets/draw_list.h"

namespace jointer::views {

// Paints the stacked memory curve. The cost is bounded by the number of pixels.
class MemoryTrack {
 public:
  MemoryTrack(const TimelineData& data, const AxisView& axis, QRect area, BytesView bytes,
              const Theme& theme)
      : data_(data), axis_(axis), area_(area), bytes_(bytes), theme_(theme) {}

  // Paints the labels of the scale to the left of the area, except for those that another label
  // would overlap.
  void paint_scale(QPainter& painter, const QRect& other_label) const;
  // Paints the background, the grid and the curve; if `hatched`, also the patterns that distinguish
  // categories in grayscale.
  void paint_curve(QPainter& painter, bool hatched = true) const;
  // Paints the allocator's reserved memory as a line above the curve.
  void paint_reserved(QPainter& painter) const;
  // Paints the upper edge of another state's curve; `profile` has one value per point of `data`.
  void paint_outline(QPainter& painter, const TimelineData& data,
                     std::span<const std::int64_t> profile, const QColor& color) const;
  // Paints the measured memory as a strong line over the estimate.
  void paint_measured(QPainter& painter, const MeasuredCurve& curve) const;
  // Paints a plan's memory as a strong line over the estimate; dashed for a preview.
  void paint_plan(QPainter& painter, const PlanTrack& plan, bool dashed) const;

  [[nodiscard]] int y_of(std::int64_t bytes) const;
  [[nodiscard]] std::int64_t bytes_at(int y) const;
  // The category that the stack of a point in the memory profile shows at this height; nullopt if
  // there is none.
  [[nodiscard]] std::optional<MemoryCategory> category_at(std::size_t point, int y) const;

 private:
  // The values with a label on the scale and a line in the background.
  [[nodiscard]] std::vector<std::int64_t> ticks() const;
  // Paints edges so that they are visible on every color of the stack.
  void paint_strong(QPainter& painter, std::vector<QRect> edges, const QColor& color) const;
  template <class BytesAt>
  [[nodiscard]] std::vector<QRect> outline(const std::vector<MemoryRun>& runs, BytesAt bytes_at,
                                           int width) const;

  const TimelineData& data_;
  const AxisView& axis_;
  QRect area_;
  BytesView bytes_;
  const Theme& theme_;
};

}  // namespace jointer::views
