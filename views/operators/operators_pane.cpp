#include "views/operators/operators_pane.h"

#include "views/session/document/shown_range.h"

namespace jointer::views {

OperatorsPane::OperatorsPane(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Operators"), tr("Filter operators"), parent) {
  view().set_flat();
  // Long names differ at their ends, after the namespace.
  view().setTextElideMode(Qt::ElideLeft);
  view().sortByColumn(OperatorModel::time_column, Qt::DescendingOrder);
  follow_range();
  add_histogram();
}

void OperatorsPane::refresh() {
  set_empty_text(
      document().shown_range().range()
          ? tr("No operators are called in this range. Press Esc to show the whole step.")
          : tr("This graph calls no operators."));
  model_->set_snapshot(subject().shared_snapshot(), document().shown_range().figures());
}

}  // namespace jointer::views
