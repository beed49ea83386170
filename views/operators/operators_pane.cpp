#include "views/operators/operators_pane.h"

#include <QHeaderView>

namespace jointer::views {

OperatorsPane::OperatorsPane(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Operators"), tr("Filter operators"), parent) {
  view().set_flat();
  view().sortByColumn(OperatorModel::time_column, Qt::DescendingOrder);
  set_empty_text(tr("No operators are called here."));
  follow_range();
  add_histogram();
}

void OperatorsPane::refresh() {
  model_->set_snapshot(document().shared_snapshot(), document().selection().range());
}

}  // namespace jointer::views
