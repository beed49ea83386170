#include "views/timeline/legend_rows.h"

#include <algorithm>

namespace jointer::views {
namespace {

constexpr int kSwatch = 10, kLineSwatch = 16, kItemPadding = 6, kItemGap = 14;

int swatch_width(const LegendEntry& entry) {
  return entry.swatch == LegendEntry::Swatch::line ? kLineSwatch : kSwatch;
}

QString count_of(std::size_t entries) {
  return QStringLiteral("+%1").arg(entries);
}

}  // namespace

int LegendRows::width_of(const LegendEntry& entry, const QFontMetrics& metrics) const {
  return swatch_width(entry) + kItemPadding +
         std::max(metrics.horizontalAdvance(entry.text), metrics.horizontalAdvance(entry.longest));
}

std::vector<LegendRows::Place> LegendRows::places(const QFontMetrics& metrics, int width) const {
  const int count_width = metrics.horizontalAdvance(count_of(entries_.size()));
  std::vector<Place> places;
  Place next;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const int needed = width_of(entries_[i], metrics);
    const bool is_last_row = next.row + 1 == max_rows_;
    const bool is_last = i + 1 == entries_.size();
    const int space = width - next.x - (is_last_row && !is_last ? kItemGap + count_width : 0);
    if (needed > space && is_last_row) break;
    if (needed > space && next.x > 0) next = {0, next.row + 1};
    places.push_back(next);
    next.x += needed + kItemGap;
  }
  return places;
}

int LegendRows::rows(const QFontMetrics& metrics, int width) const {
  if (entries_.empty()) return 0;
  const std::vector<Place> shown = places(metrics, width);
  return shown.empty() ? 1 : shown.back().row + 1;
}

QStringList LegendRows::left_out(const QFontMetrics& metrics, int width) const {
  QStringList texts;
  for (std::size_t i = places(metrics, width).size(); i < entries_.size(); ++i)
    texts << entries_[i].text;
  return texts;
}

void LegendRows::paint(QPainter& painter, const QRect& area, const Theme& theme) const {
  const QFontMetrics metrics = painter.fontMetrics();
  const std::vector<Place> shown = places(metrics, area.width());
  Place end;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const LegendEntry& entry = entries_[i];
    const QRect row(area.left() + shown[i].x, area.top() + shown[i].row * kRowHeight,
                    width_of(entry, metrics), kRowHeight);
    paint_swatch(painter, entry, row, theme);
    painter.setPen(theme.text);
    painter.drawText(row.adjusted(swatch_width(entry) + kItemPadding, 0, 0, 0),
                     Qt::AlignLeft | Qt::AlignVCenter, entry.text);
    end = {shown[i].x + row.width() + kItemGap, shown[i].row};
  }
  if (shown.size() == entries_.size()) return;
  painter.setPen(theme.muted_text);
  painter.drawText(QRect(area.left() + end.x, area.top() + end.row * kRowHeight,
                         area.width() - end.x, kRowHeight),
                   Qt::AlignLeft | Qt::AlignVCenter, count_of(entries_.size() - shown.size()));
}

void LegendRows::paint_swatch(QPainter& painter, const LegendEntry& entry, const QRect& row,
                              const Theme& theme) {
  const int middle = row.center().y();
  const QRect swatch(row.left(), middle - kSwatch / 2, swatch_width(entry), kSwatch);
  switch (entry.swatch) {
    case LegendEntry::Swatch::line:
      return painter.fillRect(QRect(swatch.left(), middle - 1, swatch.width(), 2), entry.color);
    case LegendEntry::Swatch::outlined:
      painter.fillRect(swatch, entry.color);
      painter.fillRect(swatch.adjusted(1, 1, -1, -1), theme.pale(entry.color));
      break;
    case LegendEntry::Swatch::filled:
      painter.fillRect(swatch, entry.color);
      break;
  }
  if (entry.hatch == Qt::NoBrush) return;
  const bool is_outlined = entry.swatch == LegendEntry::Swatch::outlined;
  QColor line = is_outlined ? entry.color : Theme::text_on(entry.color);
  if (!is_outlined) line.setAlphaF(0.35F);
  painter.fillRect(swatch, QBrush(line, entry.hatch));
}

}  // namespace jointer::views
