#include "views/tables/table_delegate.h"

#include <QPainter>
#include <algorithm>

#include "views/tables/table_model.h"
#include "views/theme/theme.h"

namespace jointer::views {
namespace {

constexpr int kRowHeight = 22;
constexpr int kBarInset = 3;  // above and below the bar
constexpr double kBarOpacity = 0.28;

}  // namespace

void TableDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
  const QVariant share = index.data(TableModel::bar_role);
  const bool is_selected = (option.state & QStyle::State_Selected) != 0;
  if (share.isValid() && !is_selected) {
    const QRect cell = option.rect.adjusted(kBarInset, kBarInset, -kBarInset, -kBarInset);
    const int width = qRound(share.toDouble() * cell.width());
    painter->save();
    painter->setOpacity(kBarOpacity);
    // What is not nothing is seen.
    painter->fillRect(cell.left(), cell.top(), share.toDouble() > 0 ? std::max(width, 1) : 0,
                      cell.height(), Theme::of(option.palette).accent);
    painter->restore();
  }
  QStyledItemDelegate::paint(painter, option, index);
}

QSize TableDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QSize size = QStyledItemDelegate::sizeHint(option, index);
  size.setHeight(std::max(size.height(), kRowHeight));
  return size;
}

}  // namespace jointer::views
