#include "views/graph/ladder_minimap.h"

#include <algorithm>

namespace jointer::views {
namespace {

void paint_rows(QPainter& painter, const LadderScene& scene, const QRect& rect) {
  const Theme& t = scene.theme;
  const double scale = rect.height() / std::max(scene.layout.height(), 1.0);
  const int half = rect.width() / 2 - 3;
  const auto items = scene.layout.items();
  for (std::size_t i = 0; i < items.size();) {
    const LadderItem& item = items[i];
    const int y = rect.top() + static_cast<int>(item.y * scale);
    const int height =
        std::max(static_cast<int>((item.bottom(scene.layout.style()) - item.y) * scale), 1);
    const LadderRow& row = scene.ladder.row(item.row);
    for (const LadderSide side : kLadderSides) {
      if (!scene.layout.has(side) || row.side(side).nodes == 0) continue;
      QColor color = scene.colors.row(t, row, side);
      if (color == t.bed) color = t.border;
      const int inset = std::min(row.depth * 2, half / 2);
      painter.fillRect(side == LadderSide::forward
                           ? QRect(rect.left() + inset, y, half - inset, height)
                           : QRect(rect.right() - half + 1, y, half - inset, height),
                       color);
    }
    // Continue with the first row that starts at another pixel.
    const auto next =
        std::partition_point(items.begin() + static_cast<std::ptrdiff_t>(i) + 1, items.end(),
                             [&](const LadderItem& other) {
                               return rect.top() + static_cast<int>(other.y * scale) <= y;
                             });
    i = static_cast<std::size_t>(next - items.begin());
  }
}

}  // namespace

void LadderMinimap::paint(QPainter& painter, const LadderScene& scene, const QRect& map) {
  const Theme& t = scene.theme;
  painter.fillRect(QRect(map.left() - 6, map.top(), map.width() + 8, map.height()), t.surface);
  if (scene.layout.height() * scene.view.scale <= scene.view.height || map.height() < 40) return;
  const qreal ratio = painter.device()->devicePixelRatioF();
  if (rows_.isNull() || rows_.size() != map.size() * ratio) {
    rows_ = QPixmap(map.size() * ratio);
    rows_.setDevicePixelRatio(ratio);
    rows_.fill(t.bed);
    QPainter inner(&rows_);
    paint_rows(inner, scene, QRect(QPoint(0, 0), map.size()));
  }
  painter.drawPixmap(map.topLeft(), rows_);
  const double scale = map.height() / scene.layout.height();
  const double top = std::clamp(scene.view.top() * scale, 0.0, static_cast<double>(map.height()));
  const double bottom =
      std::clamp(scene.view.bottom() * scale, 0.0, static_cast<double>(map.height()));
  if (scene.marks.current && scene.marks.current_place.item >= 0) {
    const LadderItem& item = scene.layout.item(scene.marks.current_place.item);
    painter.fillRect(QRectF(map.left(), map.top() + item.y * scale - 1, map.width(), 2), t.accent);
  }
  const QColor veil = with_alpha(t.accent, 0.16F);
  const QRectF window(map.left() + 0.5, map.top() + top + 0.5, map.width() - 1,
                      std::max(bottom - top, 6.0) - 1);
  painter.fillRect(window, veil);
  painter.setPen(t.accent);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(window);
}

}  // namespace jointer::views
