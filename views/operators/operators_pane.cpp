#include "views/operators/operators_pane.h"

#include <QHeaderView>

namespace jointer::views {

OperatorsPane::OperatorsPane(Document& document, QWidget* parent)
    : OperatorsPane(document, new OperatorModel, parent) {}

OperatorsPane::OperatorsPane(Document& document, OperatorModel* model, QWidget* parent)
    : TablePane(document, *model, tr("Filter operators"), parent), model_(model) {
  model->setParent(this);
  setAccessibleName(tr("Operators"));
  view().setRootIsDecorated(false);
  view().setItemsExpandable(false);
  view().sortByColumn(OperatorModel::time_column, Qt::DescendingOrder);
  set_empty_text(tr("No operators are called here."));
  follow_range();
  add_histogram();
}

void OperatorsPane::refresh() {
  model_->set_snapshot(document().shared_snapshot(), document().selection().range());
}

}  // namespace jointer::views
