#include "views/modules/modules_pane.h"

namespace jointer::views {

ModulesPane::ModulesPane(Document& document, QWidget* parent)
    : ModulesPane(document, new ModuleModel, parent) {}

ModulesPane::ModulesPane(Document& document, ModuleModel* model, QWidget* parent)
    : TablePane(document, *model, tr("Filter modules"), parent), model_(model) {
  model->setParent(this);
  setAccessibleName(tr("Modules"));
  set_empty_text(tr("The graph has no nodes."));
}

void ModulesPane::refresh() {
  model_->set_snapshot(document().shared_snapshot());
}

}  // namespace jointer::views
