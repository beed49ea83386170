#include "views/modules/modules_pane.h"

#include "views/session/document/shown_range.h"

namespace jointer::views {

ModulesPane::ModulesPane(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Modules"), tr("Filter modules"), parent) {
  follow_range();
  add_histogram();
}

void ModulesPane::refresh() {
  set_empty_text(document().shown_range().range()
                     ? tr("No nodes run in this range. Press Esc to show the whole step.")
                     : tr("This graph has no nodes."));
  model_->set_snapshot(subject().shared_snapshot(), document().shown_range().figures());
}

}  // namespace jointer::views
