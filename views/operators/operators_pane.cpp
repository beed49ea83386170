#include "views/operators/operators_pane.h"

#include <QHeaderView>

#include "views/session/document/shown_range.h"

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
  model_->set_snapshot(subject().shared_snapshot(), document().shown_range().figures());
}

}  // namespace jointer::views
