#pragma once

#include <QStyledItemDelegate>

#include "views/pipeline/pipeline_session.h"

namespace jointer::views {

// A step in two lines: a box to tick, the pass and what it is told, its status as a sign and a
// word; below, what it did or what is wrong.
class StepDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  // Where the box to tick is in a row.
  static QRect box_rect(const QRect& row);

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                               const QModelIndex& index) const override;
  bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                   const QModelIndex& index) override;
};

// The sign of a status, in a square; told apart by its form alone.
void paint_status(QPainter& painter, const QRectF& square, StepStatus status, double progress,
                  const QColor& color);

}  // namespace jointer::views
