#include "views/pipeline/report/pass_table_pane.h"

namespace jointer::views {

PassTablePane::PassTablePane(Document& document, PassTableModel::TablePtr table, QWidget* parent)
    : TablePaneOf(document, QString::fromStdString(table->title), tr("Filter rows"), parent) {
  set_empty_text(tr("The pass reported no rows."));
  view().set_flat();
  model_->set(std::move(table), document.shared_snapshot());
  set_headline(model_->summary());
}

}  // namespace jointer::views
