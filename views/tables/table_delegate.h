#pragma once

#include <QStyledItemDelegate>

namespace jointer::views {

// Cells of tables: a share has a small bar behind its number; rows are high enough to hit.
class TableDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                               const QModelIndex& index) const override;
};

}  // namespace jointer::views
