#include "views/timeline/ruler_painter.h"

#include <QLocale>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <vector>

#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"
#include "views/timeline/timeline_hits.h"
#include "views/timeline/timeline_text.h"
#include "views/widgets/hover_card.h"

namespace jointer::views {
namespace {

constexpr double kMinMajorPixels = 90;

}  // namespace

std::vector<Tick> RulerPainter::ticks() const {
  return ruler_ticks(scene_.axis.begin(), scene_.axis.end(), scene_.axis.width(), kMinMajorPixels);
}

// Uses the same unit for all labels, with as many digits as the tick distance requires.
std::vector<RulerPainter::Label> RulerPainter::labels() const {
  const std::vector<Tick> ticks = this->ticks();
  auto step = static_cast<double>(scene_.axis.length());
  double last_major = -1;
  for (const Tick& tick : ticks) {
    if (!tick.major) continue;
    if (last_major >= 0) step = std::min(step, tick.position - last_major);
    last_major = tick.position;
  }
  const QRect& r = scene_.layout.ruler;
  const QRect moment = moment_box();
  const QFontMetrics metrics = this->metrics();
  std::vector<Label> labels;
  for (const Tick& tick : ticks) {
    if (!tick.major) continue;
    QString text;
    if (scene_.content.kind() == AxisKind::program_order) {
      text = count_text(static_cast<std::size_t>(tick.position));
    } else {
      const bool us = step < 1e5, s = !us && scene_.axis.end() >= 2e9;
      const double unit = s ? 1e9 : us ? 1e3 : 1e6;
      const int decimals =
          std::clamp(static_cast<int>(std::ceil(-std::log10(step / unit) - 1e-9)), 0, 6);
      text = QLocale::c().toString(tick.position / unit, 'f', decimals) + (s    ? " s"
                                                                           : us ? " us"
                                                                                : " ms");
    }
    const int x = static_cast<int>(std::lround(scene_.axis.to_pixel(tick.position)));
    const int width = metrics.horizontalAdvance(text);
    const int left = std::clamp(x - width / 2, r.left(), std::max(r.right() - width, r.left()));
    const QRect place(left, r.bottom() - 9 - metrics.ascent(), width, metrics.height());
    if (!place.intersects(moment)) labels.push_back({place, text});
  }
  return labels;
}

void RulerPainter::paint_ruler(QPainter& painter) const {
  painter.save();
  painter.setFont(small_font(scene_.font));
  const QRect& r = scene_.layout.ruler;
  painter.setPen(scene_.theme.border);
  painter.drawLine(r.left(), r.bottom(), r.right(), r.bottom());
  for (const Tick& tick : ticks()) {
    const int x = static_cast<int>(std::lround(scene_.axis.to_pixel(tick.position)));
    painter.drawLine(x, r.bottom() - (tick.major ? 7 : 3), x, r.bottom());
  }
  painter.setPen(scene_.theme.muted_text);
  for (const Label& label : labels())
    painter.drawText(QPoint(label.place.left(), r.bottom() - 9), label.text);
  painter.drawText(QRect(8, r.top(), scene_.layout.gutter - 16, r.height()),
                   Qt::AlignLeft | Qt::AlignVCenter,
                   scene_.content.kind() == AxisKind::program_order    ? tr("program order")
                   : scene_.content.kind() == AxisKind::estimated_time ? tr("estimated time")
                                                                       : tr("measured time"));
  painter.restore();
}

void RulerPainter::paint_range(QPainter& painter) const {
  const auto range = scene_.content.document().selection().range();
  if (!range) return;
  const QRect area = scene_.layout.content();
  const auto [left, right] = columns_of(scene_, *range);
  painter.fillRect(QRect(left, area.top(), right - left, area.height()),
                   with_alpha(scene_.theme.accent, 0.14F));
  painter.setPen(scene_.theme.accent);
  painter.drawLine(left, area.top(), left, area.bottom());
  painter.drawLine(right, area.top(), right, area.bottom());
}

QStringList RulerPainter::range_card() const {
  const auto range = scene_.content.document().selection().range();
  return range ? range_lines(scene_.content, *range) : QStringList();
}

void RulerPainter::paint_range_card(QPainter& painter, const QStringList& card) const {
  const auto range = scene_.content.document().selection().range();
  if (!range) return;
  const QPoint at(columns_of(scene_, *range).second, scene_.layout.memory.top());
  paint_card(painter, at, scene_.viewport, card, scene_.theme);
}

void RulerPainter::paint_marks(QPainter& painter, std::span<const std::size_t> moments) const {
  for (const std::size_t moment : moments) {
    const double position = static_cast<double>(scene_.content.data().position(moment));
    if (position < scene_.axis.begin() || position > scene_.axis.end()) continue;
    const int x = static_cast<int>(std::lround(scene_.axis.to_pixel(position)));
    painter.setPen(QPen(scene_.theme.ghost, 1, Qt::DotLine));
    painter.drawLine(x, scene_.layout.ruler.bottom(), x, scene_.layout.lanes.bottom());
    painter.setPen(Qt::NoPen);
    painter.setBrush(scene_.theme.ghost);
    painter.drawPolygon(QPolygon({QPoint(x - 5, scene_.layout.ruler.bottom() - 7),
                                  QPoint(x + 5, scene_.layout.ruler.bottom() - 7),
                                  QPoint(x, scene_.layout.ruler.bottom())}));
  }
}

// Writes the distance between neighboring marks in the ruler if there is space.
void RulerPainter::paint_distances(QPainter& painter, std::span<const std::size_t> moments) const {
  std::vector<std::size_t> sorted(moments.begin(), moments.end());
  std::ranges::sort(sorted);
  painter.save();
  painter.setFont(small_font(scene_.font));
  const QFontMetrics metrics = painter.fontMetrics();
  const QRect& ruler = scene_.layout.ruler;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const TimelineData& data = scene_.content.data();
    const std::int64_t begin = data.position(sorted[i - 1]), end = data.position(sorted[i]);
    const auto x0 = static_cast<int>(scene_.axis.to_pixel(static_cast<double>(begin)));
    const auto x1 = static_cast<int>(scene_.axis.to_pixel(static_cast<double>(end)));
    const QString text = scene_.content.distance_text(begin, end);
    QRect box(0, 0, metrics.horizontalAdvance(text) + 10, metrics.height() + 2);
    box.moveCenter({(x0 + x1) / 2, ruler.top() + 1 + box.height() / 2});
    if (x1 - x0 < box.width() + 12 || box.left() < ruler.left() || box.right() > ruler.right())
      continue;
    painter.setPen(scene_.theme.ghost);
    painter.drawLine(x0, box.center().y(), x1, box.center().y());
    painter.fillRect(box, scene_.theme.surface);
    painter.drawRect(box.adjusted(0, 0, -1, -1));
    painter.setPen(scene_.theme.text);
    painter.drawText(box, Qt::AlignCenter, text);
  }
  painter.restore();
}

QString RulerPainter::text_of(std::size_t moment) const {
  return moment_text(scene_.content, moment, 1 / scene_.axis.pixels_per_unit());
}

QRect RulerPainter::moment_box() const {
  const auto moment = scene_.content.document().selection().moment();
  if (!moment || *moment >= scene_.content.data().point_count()) return {};
  const double position = static_cast<double>(scene_.content.data().position(*moment));
  if (position < scene_.axis.begin() || position > scene_.axis.end()) return {};
  const int x = static_cast<int>(std::lround(scene_.axis.to_pixel(position)));
  const QFontMetrics metrics = this->metrics();
  const TimelineLayout& layout = scene_.layout;
  QRect box(0, layout.ruler.top() + 1, metrics.horizontalAdvance(text_of(*moment)) + 10,
            metrics.height() + 2);
  box.moveLeft(std::clamp(x - box.width() / 2, layout.left(),
                          std::max(layout.left() + layout.width() - box.width(), layout.left())));
  return box;
}

void RulerPainter::paint_moment(QPainter& painter) const {
  const QRect box = moment_box();
  if (box.isEmpty()) return;
  const std::size_t moment = *scene_.content.document().selection().moment();
  const double position = static_cast<double>(scene_.content.data().position(moment));
  painter.save();
  painter.setFont(small_font(scene_.font));
  const int x = static_cast<int>(std::lround(scene_.axis.to_pixel(position)));
  painter.setPen(scene_.theme.accent);
  painter.drawLine(x, scene_.layout.ruler.top() + 2, x, scene_.layout.lanes.bottom());
  painter.fillRect(box, scene_.theme.accent);
  painter.setPen(scene_.theme.accent_text);
  painter.drawText(box, Qt::AlignCenter, text_of(moment));
  painter.restore();
}

}  // namespace jointer::views
