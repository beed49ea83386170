#include "views/pipeline/report/pass_table_pane.h"

namespace jointer::views {

PassTablePane::PassTablePane(Document& document, PassTableModel::TablePtr table, QWidget* parent)
    : PassTablePane(document, new PassTableModel, std::move(table), parent) {}

PassTablePane::PassTablePane(Document& document, PassTableModel* model,
                             PassTableModel::TablePtr table, QWidget* parent)
    : TablePane(document, *model, tr("Filter rows"), parent), model_(model) {
  model->setParent(this);
  setAccessibleName(QString::fromStdString(table->title));
  set_empty_text(tr("The pass reported no rows."));
  view().setRootIsDecorated(false);
  view().setItemsExpandable(false);
  model->set(std::move(table), document.shared_snapshot());
  set_headline(model->summary());
}

void PassTablePane::refresh() {
  model_->set_shown(document().shared_snapshot());
}

}  // namespace jointer::views
