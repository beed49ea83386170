#include "views/timeline/peak_label.h"

#include <algorithm>

namespace jointer::views {
namespace {

constexpr int kLabelGap = 8, kLabelPadding = 5;

}  // namespace

PeakLabel PeakLabel::place(const QFontMetrics& metrics, const QRect& row, int x,
                           const QString& text) {
  const int wanted = metrics.horizontalAdvance(text) + 2 * kLabelPadding;
  const int width = std::min(wanted, row.width());
  const int right_of = x + kLabelGap, left_of = x - kLabelGap - width;
  const int last = row.left() + row.width() - width;
  const int left = std::max(std::min(right_of <= last ? right_of : left_of, last), row.left());
  return {
      {left, row.top(), width, row.height()},
      width == wanted ? text : metrics.elidedText(text, Qt::ElideRight, width - 2 * kLabelPadding)};
}

void PeakLabel::paint(QPainter& painter, const Theme& theme, const QColor& color) const {
  painter.fillRect(box, theme.surface);
  painter.setPen(color);
  painter.drawText(box, Qt::AlignCenter, text);
}

}  // namespace jointer::views
