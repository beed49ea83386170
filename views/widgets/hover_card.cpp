#include "views/widgets/hover_card.h"

#include "views/theme/fonts.h"

#include <algorithm>
#include <vector>

namespace jointer::views {
namespace {

constexpr int kMaxWidth = 460;
constexpr int kPadding = 8;
constexpr int kDistance = 14;

}  // namespace

void paint_card(QPainter& painter, QPoint at, const QRect& bounds, const QStringList& lines,
                const Theme& theme) {
  if (lines.isEmpty()) return;
  painter.save();
  const QFont plain = painter.font();
  const QFont bold = bold_font(plain);
  constexpr int kFlags = Qt::AlignLeft | Qt::TextWordWrap | Qt::TextWrapAnywhere;
  std::vector<QRect> boxes;
  int width = 0, height = 0;
  for (qsizetype i = 0; i < lines.size(); ++i) {
    const QFontMetrics metrics(i == 0 ? bold : plain);
    const QRect box = metrics.boundingRect(QRect(0, 0, kMaxWidth, 1000), kFlags, lines[i]);
    boxes.push_back(box);
    width = std::max(width, box.width());
    height += box.height() + 1;
  }
  QRect card(0, 0, width + 2 * kPadding, height + 2 * kPadding);
  // Place the card to the lower right of the pointer unless it does not fit there.
  card.moveTopLeft(at + QPoint(kDistance, kDistance));
  if (card.right() > bounds.right()) card.moveRight(at.x() - kDistance);
  if (card.bottom() > bounds.bottom()) card.moveBottom(at.y() - kDistance);
  card.moveLeft(std::max(card.left(), bounds.left()));
  card.moveTop(std::max(card.top(), bounds.top()));

  painter.setPen(theme.border);
  painter.setBrush(theme.raised);
  painter.drawRect(card.adjusted(0, 0, -1, -1));
  int y = card.top() + kPadding;
  for (qsizetype i = 0; i < lines.size(); ++i) {
    painter.setFont(i == 0 ? bold : plain);
    painter.setPen(i == 0 ? theme.text : theme.muted_text);
    const int line_height = boxes[static_cast<std::size_t>(i)].height();
    painter.drawText(QRect(card.left() + kPadding, y, width + 1, line_height), kFlags, lines[i]);
    y += line_height + 1;
  }
  painter.restore();
}

}  // namespace jointer::views
