#include "views/modules/modules_pane.h"

namespace jointer::views {

ModulesPane::ModulesPane(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Modules"), tr("Filter modules"), parent) {
  set_empty_text(tr("No nodes run here."));
  follow_range();
  add_histogram();
}

void ModulesPane::refresh() {
  model_->set_snapshot(document().shared_snapshot(), document().selection().range());
}

}  // namespace jointer::views
