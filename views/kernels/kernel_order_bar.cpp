#include "views/kernels/kernel_order_bar.h"

#include <QFileDialog>

#include "views/session/kernels/kernel_order_edits.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/session/kernels/shown_kernels.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/qstring.h"
#include "views/theme/spacing.h"
#include "views/widgets/controls.h"

namespace jointer::views {

KernelOrderBar::KernelOrderBar(Document& document, QWidget* parent)
    : QWidget(parent), document_(document) {
  KernelOrderEdits& edits = document_.kernel_order();
  // The buttons must not limit how narrow the pane can be.
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  QHBoxLayout* line = make_row(this, {kNarrowMargin, 0, kNarrowMargin, 0}, kNarrowMargin);
  text_ = add_control(*line, new ElidedLabel(this), "order_text");
  line->setStretchFactor(text_, 1);
  const auto add_button = [&](const char* name, const QString& text, const QString& tip) {
    QToolButton* button = add_control(*line, new QToolButton(this), name, tip);
    button->setText(text);
    return button;
  };
  undo_ = add_button("undo_kernel_move", tr("Undo"), tr("Undo the last kernel move"));
  redo_ = add_button("redo_kernel_move", tr("Redo"), tr("Redo the last undone kernel move"));
  reset_ = add_button("reset_kernel_order", tr("Reset"),
                      tr("Undo all kernel moves; they can be redone"));
  export_ = add_button("export_kernel_order", tr("Export Compiled Order..."),
                       tr("Write the moves as a recipe that torch.compile applies "
                          "(jointer.kernel_order)"));
  connect(undo_, &QToolButton::clicked, &edits, &KernelOrderEdits::undo);
  connect(redo_, &QToolButton::clicked, &edits, &KernelOrderEdits::redo);
  connect(reset_, &QToolButton::clicked, &edits, &KernelOrderEdits::reset);
  connect(export_, &QToolButton::clicked, this, &KernelOrderBar::export_order);
  connect(&document_.shown_kernels(), &ShownKernels::changed, this, &KernelOrderBar::update_bar);
  update_bar();
}

void KernelOrderBar::update_bar() {
  const KernelOrderEdits& edits = document_.kernel_order();
  const SnapshotKernelsPtr &moved = edits.shown(), &predicted = document_.kernels().shown();
  QString text = edits.said();
  if (edits.move_count() > 0 && moved && predicted) {
    const QString moves = counted_text(edits.move_count(), tr("1 move"), tr("%1 moves"));
    // Until the rows are made, the peak is that of an earlier order.
    text = (edits.is_settled() ? tr("%1: peak %2, was %3. %4")
                                     .arg(moves, bytes_text(moved->totals().peak_bytes),
                                          bytes_text(predicted->totals().peak_bytes), text)
                               : tr("%1. %2").arg(moves, text))
               .trimmed();
  }
  text_->setText(text);
  undo_->setEnabled(edits.can_undo());
  redo_->setEnabled(edits.can_redo());
  reset_->setEnabled(edits.can_undo());
  export_->setEnabled(edits.can_undo());
  setVisible(document_.shown_kernels().source() == ShownKernels::Source::predicted &&
             (!text.isEmpty() || edits.can_redo()));
}

void KernelOrderBar::export_order() {
  const QString suffix = QStringLiteral(".order.json");
  const QString path =
      QFileDialog::getSaveFileName(this, tr("Export Compiled Order"), document_.title() + suffix,
                                   QStringLiteral("*%1").arg(suffix));
  if (path.isEmpty()) return;
  if (const auto written = document_.kernel_order().write(path); !written)
    show_warning(tr("Export Compiled Order"), to_qstring(written.error().message), this);
}

}  // namespace jointer::views
