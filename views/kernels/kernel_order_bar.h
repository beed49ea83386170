#pragma once

#include <QToolButton>
#include <QWidget>

#include "views/session/document/document.h"
#include "views/widgets/elided_label.h"

namespace jointer::views {

// A line about moves of predicted kernels: the peak before and after, or why a kernel cannot be
// moved, with buttons to undo, redo, reset and export the moves. Hidden while there is nothing to
// say and nothing to redo, and while other kernels are shown.
class KernelOrderBar : public QWidget {
  Q_OBJECT
 public:
  // `document` must outlive this object.
  explicit KernelOrderBar(Document& document, QWidget* parent = nullptr);

 private:
  void update_bar();
  void export_order();

  Document& document_;
  ElidedLabel* text_ = nullptr;
  QToolButton* undo_ = nullptr;
  QToolButton* redo_ = nullptr;
  QToolButton* reset_ = nullptr;
  QToolButton* export_ = nullptr;
};

}  // namespace jointer::views
