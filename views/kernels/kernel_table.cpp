#include "views/kernels/kernel_table.h"

#include <QHeaderView>
#include <QToolButton>

#include "views/session/kernels/predicted_kernels.h"
#include "views/widgets/controls.h"

namespace jointer::views {

KernelTable::KernelTable(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Kernels"), tr("Filter kernels by operator, kind, node"), parent) {
  view().set_flat();
  // Fit the widths only to the rows on screen: large graphs have thousands of kernels.
  view().header()->setResizeContentsPrecision(0);
  QToolButton* all = add_control(controls(), new QToolButton(this), "show_all",
                                 tr("Also list views, waits and results, which launch no kernel"));
  all->setText(tr("Show All"));
  all->setCheckable(true);
  connect(all, &QToolButton::toggled, this, [this](bool shows_all) {
    model_->set_show_all(shows_all);
    request_refresh();
  });
  connect(&document.kernels(), &PredictedKernels::changed, this, &KernelTable::request_refresh);
}

int KernelTable::selected_row() {
  const std::vector<int> rows = view().selected_rows();
  return rows.size() == 1 ? rows.front() : -1;
}

void KernelTable::refresh() {
  const PredictedKernels& predicted = document().kernels();
  if (model_->predicted() != predicted.shown()) {
    const bool is_first = model_->row_count() == 0;
    model_->set_kernels(predicted.shown());
    if (is_first && model_->row_count() > 0) view().fit_columns();
  }
  // A node that was selected before its kernel was known.
  const auto nodes = document().selection().nodes();
  if (nodes.size() == 1 && view().selected_rows().empty())
    view().show_row(view().exposed_row(model_->row_of(nodes.front())));
  if (!predicted.problem().isEmpty())
    set_empty_text(tr("The kernels cannot be predicted: %1").arg(predicted.problem()));
  else
    set_empty_text(predicted.is_current() ? tr("No kernels run in this graph.")
                                          : tr("Predicting the kernels..."));
}

}  // namespace jointer::views
