#pragma once

#include <QStyledItemDelegate>

namespace jointer::views {

// Paints a row of the command palette: the title with matching letters in bold, the menu, class or
// operator, and the shortcut on the right.
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
