#include "views/timeline/memory_painter.h"

#include <QPainter>
#include <algorithm>

#include "core/schedule/device_capacity.h"
#include "core/schedule/memory_walk.h"
#include "views/session/text/capacity_text.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"
#include "views/theme/fonts.h"
#include "views/timeline/peak_label.h"

namespace jointer::views {

QString capacity_text(std::int64_t capacity, const BytesView& axis) {
  const QString text = tr("capacity %1").arg(bytes_text(capacity));
  if (capacity > axis.top) return QStringLiteral("\u2191 ") + text;
  return capacity < axis.bottom ? QStringLiteral("\u2193 ") + text : text;
}

void MemoryPainter::paint(QPainter& painter) const {
  painter.save();
  painter.setFont(small_font(scene_.font));
  const QRect& area = scene_.layout.memory;
  const MemoryTrack track = scene_.memory_track();
  const QRect capacity = capacity_label(painter.fontMetrics(), track);
  track.paint_scale(painter, capacity);
  painter.setClipRect(area.adjusted(0, 0, 0, 1));
  track.paint_curve(painter);
  if (scene_.content.shows_reserved()) paint_reserved(painter, track);
  paint_ghost(painter, track);

  paint_lifetime(painter);
  if (const MeasuredCurve* curve = scene_.content.measured_curve())
    track.paint_measured(painter, *curve);
  painter.setClipping(false);
  paint_capacity(painter, capacity, track);
  paint_peak(painter, track);
  paint_measured_peak(painter, track);
  paint_zoom(painter);
  painter.setPen(scene_.theme.border);
  painter.drawLine(area.left(), area.bottom() + 1, area.right(), area.bottom() + 1);
  painter.restore();
}

// Paints the curve of the graph as opened, except in measured time, in which it has no positions.
void MemoryPainter::paint_ghost(QPainter& painter, const MemoryTrack& track) const {
  const Snapshot* opened = scene_.content.ghost();
  if (opened == nullptr || scene_.content.is_measured_axis()) return;
  track.paint_outline(painter, opened->timeline(scene_.content.kind()),
                      opened->analysis.memory.profile(), scene_.theme.ghost);
}

// Paints the lifetime of the first storage of the current node.
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
      const std::size_t first = std::min(begin_point(l.first), points - 1);
      const std::size_t last = end_point(l.last);
      const double end = static_cast<double>(last < points ? scene_.content.data().position(last)
                                                           : scene_.content.data().length());
      const int x0 = static_cast<int>(
          scene_.axis.to_pixel(static_cast<double>(scene_.content.data().position(first))));
      const int x1 = std::max(static_cast<int>(scene_.axis.to_pixel(end)), x0 + 1);
      painter.fillRect(QRect(x0, area.top(), x1 - x0, area.height()),
                       with_alpha(scene_.theme.accent, 0.12F));
      painter.fillRect(QRect(x0, area.top(), x1 - x0, 3), scene_.theme.accent);
      break;
    }
  }
}

// Paints the estimate's peak: a label, a line through the label and the curve, and a mark.
void MemoryPainter::paint_peak(QPainter& painter, const MemoryTrack& track) const {
  const QRect& area = scene_.layout.memory;
  const QRect row = scene_.estimate_label();
  const Analysis& a = scene_.content.shown().analysis;
  const int x = static_cast<int>(scene_.axis.to_pixel(
      static_cast<double>(scene_.content.data().position(a.memory.peak_index()))));
  if (x < area.left() || x > area.right()) return;
  painter.setPen(QPen(scene_.theme.warning, 1, Qt::DashLine));
  painter.drawLine(x, row.top() + 2, x, area.bottom());
  painter.setPen(Qt::NoPen);
  paint_mark(painter, {x, track.y_of(a.memory.peak_bytes())}, scene_.theme.warning);
  const NodeId node = a.memory.node_at(a.memory.peak_index());
  QStringList parts{tr("peak %1").arg(bytes_text(a.memory.peak_bytes()))};
  if (const QString over = over_capacity_text(a.memory.peak_bytes(), a.device); !over.isEmpty())
    parts << over;
  parts << (node ? to_qstring(scene_.content.shown().graph.name(node)) : tr("start"));
  PeakLabel::place(painter.fontMetrics(), row, x, parts.join(QStringLiteral("  ")))
      .paint(painter, scene_.theme, scene_.theme.warning);
}

// Paints a mark, unless the memory axis is zoomed and the point is outside of its visible part.
void MemoryPainter::paint_mark(QPainter& painter, QPoint at, const QColor& color) const {
  if (!scene_.layout.memory.adjusted(-1, -4, 1, 4).contains(at)) return;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setBrush(color);
  painter.drawEllipse(at, 4, 4);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

// If the curve is cut off below or above, says so and how to see all of it.
void MemoryPainter::paint_zoom(QPainter& painter) const {
  const BytesView whole{.top = scene_.content.top_bytes()};
  if (scene_.bytes.span() >= whole.span()) return;
  const QString text = tr("%1 to %2 of %3 · double-click to show all")
                           .arg(bytes_text(scene_.bytes.bottom), bytes_text(scene_.bytes.top),
                                bytes_text(whole.top));
  const QFontMetrics metrics = painter.fontMetrics();
  const QRect& area = scene_.layout.memory;
  const QRect box(area.left() + 4, area.bottom() - metrics.height() - 3,
                  std::min(metrics.horizontalAdvance(text) + 10, area.width() - 8),
                  metrics.height() + 2);
  painter.fillRect(box, with_alpha(scene_.theme.surface, 0.85F));
  painter.setPen(scene_.theme.text);
  painter.drawText(box, Qt::AlignCenter, metrics.elidedText(text, Qt::ElideRight, box.width() - 6));
}

// Marks the maximum of the measured curve and labels it.
void MemoryPainter::paint_measured_peak(QPainter& painter, const MemoryTrack& track) const {
  const MeasuredCurve* curve = scene_.content.measured_curve();
  if (curve == nullptr) return;
  const std::size_t peak = curve->peak();
  const QRect& area = scene_.layout.memory;
  const int x = static_cast<int>(scene_.axis.to_pixel(static_cast<double>(curve->position(peak))));
  if (x < area.left() || x > area.right()) return;
  painter.setPen(QPen(scene_.theme.surface, 1));
  paint_mark(painter, {x, track.y_of(curve->bytes(peak))}, scene_.theme.text);
  // The curve shows memory held between calls; peaks within calls may be higher.
  const std::int64_t highest = scene_.content.document().measured()->peak_bytes();
  const QString held = bytes_text(curve->bytes(peak));
  const QString label =
      highest > curve->bytes(peak)
          ? tr("measured %1, up to %2 within a call").arg(held, bytes_text(highest))
          : tr("measured peak %1").arg(held);
  PeakLabel::place(painter.fontMetrics(), scene_.measured_label(), x, label)
      .paint(painter, scene_.theme, scene_.theme.text);
}

// The position of the label for the device's memory, in the gutter: at the line of this capacity
// or, if that line is not visible, above or at the lower end of the scale. Empty if the capacity is
// not known.
QRect MemoryPainter::capacity_label(const QFontMetrics& metrics, const MemoryTrack& track) const {
  const QRect& area = scene_.layout.memory;
  const auto capacity = capacity_bytes(scene_.content.shown().analysis.device);
  if (!capacity) return {};
  const int height = metrics.height();
  const int top = *capacity > scene_.bytes.top      ? area.top() - height
                  : *capacity < scene_.bytes.bottom ? area.bottom() + 1 - height
                                                    : track.y_of(*capacity) - height / 2;
  return {0, top, area.left() - 8, height};
}

void MemoryPainter::paint_capacity(QPainter& painter, const QRect& label,
                                   const MemoryTrack& track) const {
  if (label.isEmpty()) return;
  const Analysis& a = scene_.content.shown().analysis;
  const std::int64_t capacity = *capacity_bytes(a.device);
  const bool is_over = bytes_over_capacity(a.memory.peak_bytes(), a.device) > 0;
  const QColor color = is_over ? scene_.theme.warning : scene_.theme.muted_text;
  painter.setPen(color);
  painter.drawText(label, Qt::AlignRight | Qt::AlignVCenter, capacity_text(capacity, scene_.bytes));
  const QRect& area = scene_.layout.memory;
  if (capacity < scene_.bytes.bottom || capacity > scene_.bytes.top) return;
  painter.fillRect(area.left(), track.y_of(capacity) - 1, area.width(), 2, color);
}

void MemoryPainter::paint_reserved(QPainter& painter, const MemoryTrack& track) const {
  track.paint_reserved(painter);
  // Place the label above the right end of the line.
  const auto end = static_cast<std::int64_t>(scene_.axis.end());
  const std::int64_t bytes = scene_.content.data().reserved(scene_.content.data().point_at(end));
  const QString label = tr("reserved %1").arg(bytes_text(bytes));
  const QFontMetrics metrics = painter.fontMetrics();
  const QRect& area = scene_.layout.memory;
  const int width = metrics.horizontalAdvance(label) + 8;
  const QRect box(area.right() - width,
                  std::max(track.y_of(bytes) - 2 - metrics.height(), area.top() + 5), width,
                  metrics.height());
  painter.fillRect(box, with_alpha(scene_.theme.surface, 0.85F));
  painter.setPen(scene_.theme.muted_text);
  painter.drawText(box, Qt::AlignCenter, label);
}

}  // namespace jointer::views
