#include "views/modules/modules_pane.h"

#include "views/session/document/shown_range.h"

namespace jointer::views {

ModulesPane::ModulesPane(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Modules"), tr("Filter modules"), parent) {
  set_empty_text(tr("No nodes run here."));
  follow_range();
  add_histogram();
}

void ModulesPane::refresh() {
  model_->set_snapshot(subject().shared_snapshot(), document().shown_range().figures());
}

}  // namespace jointer::views
