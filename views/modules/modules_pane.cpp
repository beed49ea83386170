#include "views/modules/modules_pane.h"

namespace jointer::views {

ModulesPane::ModulesPane(Document& document, QWidget* parent)
    : ModulesPane(document, new ModuleModel, parent) {}

ModulesPane::ModulesPane(Document& document, ModuleModel* model, QWidget* parent)
    : TablePane(document, *model, tr("Filter modules"), parent), model_(model) {
  model->setParent(this);
  setAccessibleName(tr("Modules"));
  set_empty_text(tr("No nodes run here."));
  follow_range();
  add_histogram();
}

void ModulesPane::refresh() {
  model_->set_snapshot(document().shared_snapshot(), document().selection().range());
}

}  // namespace jointer::views
