#include "views/tables/table_delegate.h"

#include <QApplication>
#include <QPainter>
#include <algorithm>

#include "views/tables/table_model.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"

namespace jointer::views {
namespace {

constexpr int kBarInset = 3;  // above and below the bar
constexpr int kTextInset = 3;
constexpr int kNumberInset = 12;  // leaves space for the header's sort arrow
constexpr double kBarOpacity = 0.28;

}  // namespace

void TableDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
  const QVariant share = index.data(TableModel::bar_role);
  const bool is_selected = (option.state & QStyle::State_Selected) != 0;
  if (share.isValid() && !is_selected) {
    const QRect bar = option.rect.adjusted(kBarInset, kBarInset, -kBarInset, -kBarInset);
    const int width = qRound(share.toDouble() * bar.width());
    painter->save();
    painter->setOpacity(kBarOpacity);
    // The bar of a nonzero share is at least one pixel wide.
    painter->fillRect(bar.left(), bar.top(), share.toDouble() > 0 ? std::max(width, 1) : 0,
                      bar.height(), Theme::of(option.palette).accent);
    painter->restore();
  }
  // The background fills the cell; the text is aligned with the header's.
  QStyleOptionViewItem cell = option;
  const QStyle* style = option.widget != nullptr ? option.widget->style() : QApplication::style();
  style->drawPrimitive(QStyle::PE_PanelItemViewItem, &cell, painter, option.widget);
  const bool is_number = (index.data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight) != 0;
  if (index.data(TableModel::alarm_role).toBool())
    cell.palette.setColor(QPalette::Text, Theme::of(option.palette).error);
  cell.rect.adjust(kTextInset, 0, is_number ? -kNumberInset : -kTextInset, 0);
  QStyledItemDelegate::paint(painter, cell, index);
}

void TableDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  if (index.data(Qt::DecorationRole).typeId() != QMetaType::QColor) return;
  option->icon.addPixmap(option->icon.pixmap(option->decorationSize), QIcon::Selected);
}

QSize TableDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QSize size = QStyledItemDelegate::sizeHint(option, index);
  size.rwidth() += kTextInset + kNumberInset;
  size.setHeight(std::max(size.height(), kTableRowHeight));
  return size;
}

}  // namespace jointer::views
