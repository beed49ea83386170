#include "views/timeline/move_strip.h"

#include <algorithm>
#include <cmath>

#include "views/session/edit/metrics.h"
#include "views/session/sac/sac_state.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"
#include "views/theme/fonts.h"

namespace jointer::views {
namespace {

constexpr int kLine = 18, kMinRow = 12, kMaxRow = 30, kRowGap = 3;
constexpr int kWantedHeight = 4 * kLine + 2 * kMaxRow + 4 * kRowGap;
constexpr double kShareOfMemory = 0.62;
constexpr int kMinHeight = 3 * kLine + 2 * kMinRow + 4 * kRowGap;

QString in_brackets(const QString& difference) {
  return difference == QStringLiteral("=") ? QString() : QStringLiteral(" (%1)").arg(difference);
}

}  // namespace

int MoveStrip::x_of(std::size_t gap) const {
  const double pixel = axis_.to_pixel(static_cast<double>(scale_.position(gap)));
  return static_cast<int>(
      std::lround(std::clamp(pixel, axis_.left() - 2, axis_.left() + axis_.width() + 2)));
}

// The strip is at the bottom of the memory curve. Permanent memory is drawn there, so little of
// interest is hidden.
QRect MoveStrip::area() const {
  const QRect& memory = layout_.memory;
  const int share = static_cast<int>(memory.height() * kShareOfMemory);
  const int height = std::clamp(share, std::min(kMinHeight, memory.height()), kWantedHeight);
  return {0, memory.bottom() + 1 - height, memory.right() + 1, height};
}

void MoveStrip::paint_range(QPainter& painter, const QRect& content) const {
  const int left = x_of(held_.preview.first()), right = x_of(held_.preview.last());
  const QColor veil = with_alpha(theme_.surface, 0.6F);
  const QRect before(content.left(), content.top(), std::max(left - content.left(), 0),
                     content.height());
  const QRect after(right + 1, content.top(), std::max(content.right() - right, 0),
                    content.height());
  painter.fillRect(before, veil);
  painter.fillRect(after, veil);
  painter.setPen(QPen(theme_.accent, 1));
  if (left >= content.left()) painter.drawLine(left, content.top(), left, content.bottom());
  if (right <= content.right()) painter.drawLine(right, content.top(), right, content.bottom());
  // Draw lines at the original and the current position.
  painter.setPen(QPen(theme_.muted_text, 1, Qt::DotLine));
  const int was = x_of(held_.preview.current());
  painter.drawLine(was, content.top(), was, content.bottom());
  const int is = x_of(held_.gap);
  painter.fillRect(QRect(is - 1, content.top(), 3, content.height()), theme_.accent);
}

QString MoveStrip::headline() const {
  const Figures& was = held_.preview.at(held_.preview.current());
  const Figures& is = held_.figures();
  const std::size_t from = held_.preview.current();
  const std::size_t places = std::max(from, held_.gap) - std::min(from, held_.gap);
  const QString moved = counted_text(places, tr("1 position"), tr("%1 positions"));
  const QString where = places == 0        ? tr("original position")
                        : held_.gap < from ? tr("%1 earlier").arg(moved)
                                           : tr("%1 later").arg(moved);
  const QString name = to_qstring(held_.from->graph.name(held_.handle));
  const QString what = held_.nodes.size() > 1
                           ? tr("%1 and %2 more").arg(name, count_text(held_.nodes.size() - 1))
                           : name;
  QStringList parts{QStringLiteral("%1: %2").arg(what, where),
                    tr("exposed %1").arg(time_text(is.exposed_ns)) +
                        in_brackets(time_difference_text(was.exposed_ns, is.exposed_ns)),
                    tr("peak %1").arg(bytes_text(is.peak_bytes)) +
                        in_brackets(bytes_difference_text(was.peak_bytes, is.peak_bytes)),
                    tr("step %1").arg(time_text(is.step_ns)) +
                        in_brackets(time_difference_text(was.step_ns, is.step_ns))};
  // Say so, since History shows the estimates of the pair that the plan of the joint graph makes.
  if (sac_kind(held_.from->graph) == SacKind::joint) parts << tr("estimated for the joint graph");
  return parts.join(QStringLiteral("  ·  "));
}

void MoveStrip::paint_strip(QPainter& painter) const {
  const QRect strip = area();
  painter.save();
  painter.setClipRect(strip);
  painter.fillRect(strip, theme_.surface);
  painter.fillRect(QRect(strip.left(), strip.top(), strip.width(), 2), theme_.accent);

  const bool has_notes = !held_.carried.isEmpty() || !held_.reordered.isEmpty();
  // In a low strip, the notes take precedence over the constraints.
  const bool has_ends = !has_notes || strip.height() >= kMinHeight + kLine;
  const int lines = has_notes && has_ends ? 4 : 3;
  const int rows = strip.height() - lines * kLine - 4 * kRowGap;
  const int height = std::clamp(rows / 2, kMinRow, kMaxRow);
  int y = strip.top() + kRowGap;
  const auto line = [&](int h) {
    const QRect r(layout_.left(), y, layout_.width(), h);
    y += h;
    return r;
  };
  const QFont plain = painter.font(), bold = bold_font(plain);
  const QRect head = line(kLine);
  painter.setFont(bold);
  painter.setPen(theme_.text);
  painter.drawText(head.adjusted(6, 0, -6, 0), Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(headline(), Qt::ElideRight, head.width() - 12));
  painter.setFont(plain);
  const QRect labels = line(kLine);
  const QRect exposed = line(height);
  y += kRowGap;
  const QRect peak = line(height);
  y += kRowGap;
  paint_row(painter, {exposed, tr("exposed"), &Figures::exposed_ns, theme_.warning,
                      [](std::int64_t value) { return time_text(value); }});
  paint_row(painter, {peak, tr("peak"), &Figures::peak_bytes, theme_.color(ColorRole::amount),
                      [](std::int64_t value) { return bytes_text(value); }});
  paint_marks(painter, labels, exposed.united(peak));
  if (has_ends) paint_ends(painter, line(kLine));
  if (has_notes) paint_notes(painter, line(kLine));
  painter.restore();
}

// Draws, for each pixel column, the range of the values at its positions.
void MoveStrip::paint_row(QPainter& painter, const Row& row) const {
  const auto value = [&](std::size_t gap) { return held_.preview.at(gap).*row.value; };
  std::int64_t min = value(held_.preview.first()), max = min;
  for (const Figures& f : held_.preview.range.at) {
    min = std::min(min, f.*row.value);
    max = std::max(max, f.*row.value);
  }
  painter.fillRect(row.area, theme_.bed);
  const double scale = max > min ? (row.area.height() - 3) / static_cast<double>(max - min) : 0;
  const auto y_of = [&](std::int64_t v) {
    return row.area.bottom() - 1 -
           static_cast<int>(std::lround(static_cast<double>(v - min) * scale));
  };
  const QColor fill = with_alpha(row.color, 0.35F);
  std::vector<QRect> areas, lines;
  const auto columns = scale_.columns(axis_);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const GapScale::Column& c = columns[i];
    std::int64_t low = value(c.first), high = low;
    for (std::size_t gap = c.first; gap <= c.last; ++gap) {
      low = std::min(low, value(gap));
      high = std::max(high, value(gap));
    }
    const int right = i + 1 < columns.size() ? columns[i + 1].x : c.x + 2;
    const int top = y_of(high), bottom = y_of(low);
    areas.emplace_back(c.x, top, right - c.x, row.area.bottom() + 1 - top);
    lines.emplace_back(c.x, top, right - c.x, 2);
    if (bottom > top + 2) lines.emplace_back(c.x, top, 1, bottom - top);
  }
  painter.setPen(Qt::NoPen);
  painter.setBrush(fill);
  painter.drawRects(areas.data(), static_cast<int>(areas.size()));
  painter.setBrush(row.color);
  painter.drawRects(lines.data(), static_cast<int>(lines.size()));

  const QRect gutter(8, row.area.top(), layout_.gutter - 16, row.area.height());
  const QFontMetrics metrics = painter.fontMetrics();
  painter.setPen(theme_.text);
  const bool two = row.area.height() >= 2 * metrics.height() - 4;
  const QString range = max == min ? tr("the same at every position")
                                   : QStringLiteral("%1 … %2").arg(row.text(min), row.text(max));
  painter.drawText(gutter, Qt::AlignLeft | (two ? Qt::AlignTop : Qt::AlignVCenter), row.name);
  painter.setPen(theme_.muted_text);
  if (two)
    painter.drawText(gutter, Qt::AlignLeft | Qt::AlignBottom,
                     metrics.elidedText(range, Qt::ElideRight, gutter.width()));
}

QString flat_text(const HeldMove& held) {
  if (!held.preview.is_flat()) return {};
  if (held.preview.first() == held.preview.last()) return tr("This is the only legal position.");
  // Do not suggest a chain if there is none to include: the note on nodes that move along says so.
  return held.carries || !held.carried.isEmpty()
             ? tr("No legal position changes the estimates.")
             : tr("No legal position changes the estimates; press C to include the chain.");
}

void MoveStrip::paint_marks(QPainter& painter, const QRect& labels, const QRect& rows) const {
  if (const QString why = flat_text(held_); !why.isEmpty()) {
    painter.setPen(theme_.text);
    painter.drawText(labels, Qt::AlignCenter, why);
    return;
  }
  const Figures& was = held_.preview.at(held_.preview.current());
  const BestGaps& best = held_.preview.best;
  struct Mark {
    std::size_t gap;
    QString text;
  };
  std::vector<Mark> marks;
  // Marks at the same position share a label. It begins with the best position within the peak of
  // the graph as opened, which is added first.
  const auto add = [&](std::size_t gap, const QString& text) {
    for (Mark& mark : marks)
      if (mark.gap == gap) {
        mark.text += QStringLiteral(", ") + text;
        return;
      }
    marks.push_back({gap, text});
  };
  const auto exposed = [&](std::size_t gap) {
    return in_brackets(time_difference_text(was.exposed_ns, held_.preview.at(gap).exposed_ns));
  };
  if (best.fastest_within)
    add(*best.fastest_within, tr("best within the peak as opened") + exposed(*best.fastest_within));
  add(best.min_exposed, tr("minimum exposed") + exposed(best.min_exposed));
  add(best.min_peak,
      tr("minimum peak") + in_brackets(bytes_difference_text(
                               was.peak_bytes, held_.preview.at(best.min_peak).peak_bytes)));
  const QFontMetrics metrics = painter.fontMetrics();
  std::vector<QRect> taken;
  painter.setRenderHint(QPainter::Antialiasing, false);
  for (const Mark& mark : marks) {
    const int x = x_of(mark.gap);
    if (x < labels.left() || x > labels.right()) continue;
    const bool is_first = &mark == &marks.front() && best.fastest_within.has_value();
    const QColor color = is_first ? theme_.accent : theme_.text;
    painter.setPen(QPen(color, 1));
    painter.drawLine(x, labels.bottom() - 2, x, rows.bottom());
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawPolygon(
        QPolygon({QPoint(x - 4, labels.bottom() - 6), QPoint(x + 5, labels.bottom() - 6),
                  QPoint(x, labels.bottom() + 1)}));
    const int width = metrics.horizontalAdvance(mark.text) + 8;
    // Place the label next to its mark if there is space; otherwise leave it out.
    for (const int left : {x + 7, x - 7 - width}) {
      const QRect box(left, labels.top(), width, labels.height());
      const bool fits = box.left() >= labels.left() && box.right() <= labels.right() &&
                        std::none_of(taken.begin(), taken.end(),
                                     [&](const QRect& other) { return other.intersects(box); });
      if (!fits) continue;
      painter.setPen(color);
      painter.drawText(box, Qt::AlignCenter, mark.text);
      taken.push_back(box.adjusted(-8, 0, 8, 0));
      break;
    }
  }
}

void MoveStrip::paint_ends(QPainter& painter, const QRect& line) const {
  const QFontMetrics metrics = painter.fontMetrics();
  painter.setPen(theme_.muted_text);
  const QRect half = line.adjusted(6, 0, -line.width() / 2 - 6, 0);
  const QString earliest =
      held_.earliest.isEmpty() ? tr("No node limits earlier positions.") : held_.earliest;
  const QString latest =
      held_.latest.isEmpty() ? tr("No node limits later positions.") : held_.latest;
  painter.drawText(
      half, Qt::AlignLeft | Qt::AlignVCenter,
      metrics.elidedText(QStringLiteral("\u25c2 ") + earliest, Qt::ElideRight, half.width()));
  const QRect other = half.translated(line.width() / 2, 0);
  painter.drawText(
      other, Qt::AlignRight | Qt::AlignVCenter,
      metrics.elidedText(latest + QStringLiteral(" \u25b8"), Qt::ElideRight, other.width()));
}

void MoveStrip::paint_notes(QPainter& painter, const QRect& line) const {
  QStringList notes;
  if (!held_.reordered.isEmpty()) notes << held_.reordered;
  if (!held_.carried.isEmpty()) notes << held_.carried;
  painter.setPen(held_.reordered.isEmpty() ? theme_.text : theme_.warning);
  painter.drawText(line.adjusted(6, 0, -6, 0), Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(notes.join(QStringLiteral("  ")),
                                                    Qt::ElideRight, line.width() - 12));
}

}  // namespace jointer::views
