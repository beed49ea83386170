#include "views/palette/palette_delegate.h"

#include <QPainter>

#include "views/palette/palette_model.h"
#include "views/theme/fonts.h"
#include "views/theme/theme.h"

namespace jointer::views {
namespace {

constexpr int kEntryHeight = 26, kSideMargin = 10;
constexpr int kGap = 14;

// Paints the title in runs of the same font weight. Returns the x position of its end.
int paint_title(QPainter& painter, const QRect& rect, const QString& title,
                const QList<int>& positions) {
  const QFont plain = painter.font(), bold = bold_font(plain);
  int x = rect.left();
  for (qsizetype begin = 0; begin < title.size();) {
    const bool is_match = positions.contains(static_cast<int>(begin));
    qsizetype end = begin + 1;
    while (end < title.size() && positions.contains(static_cast<int>(end)) == is_match) ++end;
    painter.setFont(is_match ? bold : plain);
    const QString run = title.mid(begin, end - begin);
    const int room = rect.right() - x;
    if (room <= 0) break;
    painter.drawText(QRect(x, rect.top(), room, rect.height()), Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(run, Qt::ElideRight, room));
    x += painter.fontMetrics().horizontalAdvance(run);
    begin = end;
  }
  painter.setFont(plain);
  return x;
}

}  // namespace

void PaletteDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const {
  const Theme& theme = Theme::of(option.palette);
  const bool is_selected = (option.state & QStyle::State_Selected) != 0;
  const bool is_enabled = (index.flags() & Qt::ItemIsEnabled) != 0;
  const QColor muted = is_selected ? theme.accent_text : theme.muted_text;
  painter->save();
  painter->setFont(option.font);
  if (is_selected) painter->fillRect(option.rect, theme.accent);
  QRect rect = option.rect.adjusted(kSideMargin, 0, -kSideMargin, 0);
  const QString shortcut = index.data(PaletteModel::shortcut_role).toString();
  painter->setPen(muted);
  if (!shortcut.isEmpty()) {
    painter->drawText(rect, Qt::AlignRight | Qt::AlignVCenter, shortcut);
    rect.setRight(rect.right() - painter->fontMetrics().horizontalAdvance(shortcut) - kGap);
  }
  painter->setPen(!is_enabled   ? option.palette.color(QPalette::Disabled, QPalette::Text)
                  : is_selected ? theme.accent_text
                                : theme.text);
  const int end = paint_title(*painter, rect, index.data(PaletteModel::title_role).toString(),
                              index.data(PaletteModel::positions_role).value<QList<int>>());
  painter->setPen(muted);
  const QRect rest(end + kGap, rect.top(), rect.right() - end - kGap, rect.height());
  if (rest.width() > 0)
    painter->drawText(
        rest, Qt::AlignLeft | Qt::AlignVCenter,
        painter->fontMetrics().elidedText(index.data(PaletteModel::detail_role).toString(),
                                          Qt::ElideMiddle, rest.width()));
  painter->restore();
}

QSize PaletteDelegate::sizeHint(const QStyleOptionViewItem& option,
                                const QModelIndex& /*index*/) const {
  return {100, std::max(kEntryHeight, option.fontMetrics.height() + 6)};
}

}  // namespace jointer::views
