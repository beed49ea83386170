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
  set_empty_text(tr("The graph has no operator calls."));
}

void OperatorsPane::refresh() {
  model_->set_snapshot(document().shared_snapshot());
}

}  // namespace jointer::views
