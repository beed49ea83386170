#include "views/timeline/memory_painter.h"

#include <QPainter>
#include <algorithm>

#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"

namespace jointer::views {

void MemoryPainter::paint(QPainter& painter) const {
  painter.save();
  painter.setFont(small_font(scene_.font));
  const QRect& area = scene_.layout.memory;
  const MemoryTrack track = scene_.memory_track();
  track.paint_scale(painter);
  painter.setClipRect(area.adjusted(0, 0, 0, 1));
  track.paint_curve(painter);
  if (scene_.content.shows_reserved()) paint_reserved(painter, track);
  paint_ghost(painter, track);

  paint_lifetime(painter);
  paint_measured(painter, track);
  paint_peak(painter, track);
  painter.setClipping(false);
  painter.setPen(scene_.theme.border);
  painter.drawLine(area.left(), area.bottom() + 1, area.right(), area.bottom() + 1);
  painter.restore();
}

// Paints the curve of the graph as opened, which has no positions in measured time.
void MemoryPainter::paint_ghost(QPainter& painter, const MemoryTrack& track) const {
  const Snapshot* opened = scene_.content.ghost();
  if (opened == nullptr || scene_.content.is_measured_axis()) return;
  track.paint_outline(painter, opened->timeline(scene_.content.kind()),
                      opened->analysis.memory.profile(), scene_.theme.ghost);
}

// Paints the lifetime of the current node's storage.
void MemoryPainter::paint_lifetime(QPainter& painter) const {
  const QRect& area = scene_.layout.memory;
  const Analysis& a = scene_.content.shown().analysis;
  if (const NodeId current = scene_.content.document().selection().current()) {
    for (const Tensor& t : scene_.content.shown().graph.tensors(current)) {
      if (!t.storage) continue;
      const auto index = a.memory.lifetime_of(scene_.content.shown().graph.real_storage(t.storage));
      if (!index) continue;
      const Lifetime& l = a.memory.lifetimes()[*index];
      const std::size_t points = scene_.content.data().point_count();
      const std::size_t first =
          l.first < 0
              ? 0
              : std::min<std::size_t>(1 + 2 * static_cast<std::size_t>(l.first), points - 1);
      const auto last = static_cast<std::size_t>(2 + 2 * std::int64_t{l.last});
      const double end = static_cast<double>(last < points ? scene_.content.data().position(last)
                                                           : scene_.content.data().length());
      const int x0 = static_cast<int>(
          scene_.axis.to_pixel(static_cast<double>(scene_.content.data().position(first))));
      const int x1 = std::max(static_cast<int>(scene_.axis.to_pixel(end)), x0 + 1);
      QColor band = scene_.theme.accent;
      band.setAlphaF(0.12F);
      painter.fillRect(QRect(x0, area.top(), x1 - x0, area.height()), band);
      painter.fillRect(QRect(x0, area.top(), x1 - x0, 3), scene_.theme.accent);
      break;
    }
  }
}

void MemoryPainter::paint_peak(QPainter& painter, const MemoryTrack& track) const {
  const QRect& area = scene_.layout.memory;
  const Analysis& a = scene_.content.shown().analysis;
  const int x = static_cast<int>(scene_.axis.to_pixel(
      static_cast<double>(scene_.content.data().position(a.memory.peak_index()))));
  const int y = track.y_of(a.memory.peak_bytes());
  painter.setPen(QPen(scene_.theme.warning, 1, Qt::DashLine));
  painter.drawLine(x, area.top(), x, area.bottom());
  painter.setPen(Qt::NoPen);
  painter.setBrush(scene_.theme.warning);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.drawEllipse(QPoint(x, y), 4, 4);
  painter.setRenderHint(QPainter::Antialiasing, false);
  const NodeId node = a.memory.node_at(a.memory.peak_index());
  const QString label =
      tr("peak %1  %2")
          .arg(bytes_text(a.memory.peak_bytes()),
               node ? to_qstring(scene_.content.shown().graph.name(node)) : tr("start"));
  const QFontMetrics metrics = painter.fontMetrics();
  const int width = metrics.horizontalAdvance(label) + 10;
  QRect box(x + 8, std::max(y - 8, area.top() + 2), width, metrics.height() + 4);
  if (box.right() > area.right()) box.moveRight(x - 8);
  if (x >= area.left() && x <= area.right()) {
    QColor behind = scene_.theme.surface;
    behind.setAlphaF(0.86F);
    painter.fillRect(box, behind);
    painter.setPen(scene_.theme.warning);
    painter.drawText(box, Qt::AlignCenter, label);
  }
}

// Paints a line over the stack and labels its maximum.
void MemoryPainter::paint_measured(QPainter& painter, const MemoryTrack& track) const {
  if (scene_.content.document().measured() == nullptr) return;
  const MeasuredCurve& curve = scene_.content.document().measured()->curve(scene_.content.kind());
  if (curve.empty()) return;
  track.paint_measured(painter, curve);
  const std::size_t peak = curve.peak();
  const QRect& area = scene_.layout.memory;
  const int x = static_cast<int>(scene_.axis.to_pixel(static_cast<double>(curve.position(peak))));
  const int y = track.y_of(curve.bytes(peak));
  if (x < area.left() || x > area.right()) return;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(scene_.theme.surface, 1));
  painter.setBrush(scene_.theme.text);
  painter.drawEllipse(QPoint(x, y), 4, 4);
  painter.setRenderHint(QPainter::Antialiasing, false);
  // The curve shows memory held between calls; peaks within calls may be higher.
  const std::int64_t highest = scene_.content.document().measured()->peak_bytes();
  const QString held = bytes_text(curve.bytes(peak));
  const QString label =
      highest > curve.bytes(peak)
          ? tr("measured %1, up to %2 within a call").arg(held, bytes_text(highest))
          : tr("measured peak %1").arg(held);
  const QFontMetrics metrics = painter.fontMetrics();
  // Place it below the label of the estimated peak, which is at the same height if the estimate is
  // good.
  QRect box(x + 8, std::max(y + 12, area.top() + 22), metrics.horizontalAdvance(label) + 10,
            metrics.height() + 4);
  if (box.right() > area.right()) box.moveRight(x - 8);
  QColor behind = scene_.theme.surface;
  behind.setAlphaF(0.86F);
  painter.fillRect(box, behind);
  painter.setPen(scene_.theme.text);
  painter.drawText(box, Qt::AlignCenter, label);
}

void MemoryPainter::paint_reserved(QPainter& painter, const MemoryTrack& track) const {
  track.paint_reserved(painter);
  // Label the line at its right end, above it.
  const auto end = static_cast<std::int64_t>(scene_.axis.end());
  const std::int64_t bytes = scene_.content.data().reserved(scene_.content.data().point_at(end));
  const QString label = tr("reserved %1").arg(bytes_text(bytes));
  const QFontMetrics metrics = painter.fontMetrics();
  const QRect& area = scene_.layout.memory;
  const int width = metrics.horizontalAdvance(label) + 8;
  const QRect box(area.right() - width,
                  std::max(track.y_of(bytes) - 2 - metrics.height(), area.top() + 5), width,
                  metrics.height());
  QColor behind = scene_.theme.surface;
  behind.setAlphaF(0.85F);
  painter.fillRect(box, behind);
  painter.setPen(scene_.theme.muted_text);
  painter.drawText(box, Qt::AlignCenter, label);
}

}  // namespace jointer::views
