#include "views/timeline/timeline_overview.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

namespace jointer::views {

// Paints the curve of the whole step into the cache.
void TimelineOverview::paint_curve(const TimelineScene& scene, qreal ratio) {
  const QRect& area = scene.layout.overview;
  const TimelineData& data = scene.content.data();
  const Theme& theme = scene.theme;
  curve_ = QPixmap(area.size() * ratio);
  curve_.setDevicePixelRatio(ratio);
  curve_.fill(theme.window);
  QPainter inner(&curve_);
  AxisView whole(scene.axis.length());
  whole.set_pixels(0, area.width());
  MemoryTrack(data, whole, QRect(0, 2, area.width(), area.height() - 8),
              {.top = scene.content.top_bytes()}, theme)
      .paint_curve(inner, /*hatched=*/false);
  // Paint exposed time as a separate line, stronger where its share is larger.
  for (const LaneRun& run : fold_lane(data.lanes()[1], whole)) {
    const auto times = data.lanes()[1].times(run.first, run.last);
    std::int64_t busy = 0;
    for (const std::int64_t time : times) busy += time;
    const std::int64_t stalled = times[static_cast<std::size_t>(ItemColor::stall)];
    if (stalled == 0) continue;
    const QColor color = with_alpha(
        theme.warning, 0.25F + 0.75F * static_cast<float>(stalled) / static_cast<float>(busy));
    inner.fillRect(run.left, area.height() - 4, std::max(run.right - run.left, 1), 4, color);
  }
}

void TimelineOverview::paint(QPainter& painter, const TimelineScene& scene) {
  if (curve_.isNull()) paint_curve(scene, painter.device()->devicePixelRatioF());
  const QRect& area = scene.layout.overview;
  const AxisView& axis = scene.axis;
  const Theme& theme = scene.theme;
  painter.drawPixmap(area.topLeft(), curve_);
  const double length = static_cast<double>(axis.length());
  const int x0 = area.left() + static_cast<int>(axis.begin() / length * area.width());
  const int x1 = area.left() + static_cast<int>(std::ceil(axis.end() / length * area.width()));
  const QColor veil = with_alpha(theme.surface, 0.62F);
  painter.fillRect(QRect(area.left(), area.top(), x0 - area.left(), area.height()), veil);
  painter.fillRect(QRect(x1, area.top(), area.right() + 1 - x1, area.height()), veil);
  painter.setPen(theme.accent);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRect(x0, area.top(), std::max(x1 - x0 - 1, 2), area.height() - 1));
  painter.setPen(theme.muted_text);
  painter.drawText(QRect(8, area.top(), scene.layout.gutter - 16, area.height()),
                   Qt::AlignLeft | Qt::AlignVCenter, tr("whole step"));
}

}  // namespace jointer::views
