#pragma once

#include <QStyledItemDelegate>

namespace jointer::views {

// A row of the command palette: the title with its matching letters bold, what it belongs to, and
// its shortcut at the right.
class PaletteDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                               const QModelIndex& index) const override;
};

}  // namespace jointer::views
