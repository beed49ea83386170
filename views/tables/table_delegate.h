#pragma once

#include <QStyledItemDelegate>

namespace jointer::views {

// Paints table cells, with a bar behind each share, in rows that are high enough to be clicked
// easily.
class TableDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                               const QModelIndex& index) const override;

 protected:
  // The color next to a text does not change when its row is selected, since it has a meaning.
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

}  // namespace jointer::views
