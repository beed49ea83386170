#pragma once

#include <QStyledItemDelegate>

#include "views/session/pipeline/pipeline_session.h"

namespace jointer::views {

// Paints a step in two lines. The first has a check box, the pass with its parameters, and a sign
// for the status; the second has the result, the error or the pass's summary, and the status as
// text.
class StepDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  // The area of the check box in a row.
  static QRect box_rect(const QRect& row);

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                               const QModelIndex& index) const override;
  bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                   const QModelIndex& index) override;
};

// Paints the sign for a status in a square. Signs are distinguishable by shape alone.
void paint_status(QPainter& painter, const QRectF& square, StepStatus status, double progress,
                  const QColor& color);

}  // namespace jointer::views
