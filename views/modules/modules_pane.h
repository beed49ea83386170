#pragma once

#include "views/modules/module_model.h"
#include "views/tables/table_pane.h"

namespace jointer::views {

// The modules with their totals. Selecting a row selects all nodes in its subtree.
class ModulesPane : public TablePane {
  Q_OBJECT
 public:
  explicit ModulesPane(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] ModuleModel& model() { return *model_; }

 protected:
  void refresh() override;

 private:
  ModulesPane(Document& document, ModuleModel* model, QWidget* parent);

  ModuleModel* model_;
};

}  // namespace jointer::views
