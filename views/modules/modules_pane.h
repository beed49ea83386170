#pragma once

#include "views/modules/module_model.h"
#include "views/tables/table_pane_of.h"

namespace jointer::views {

// The modules with their totals. Selecting a row selects all nodes in its subtree.
class ModulesPane : public TablePaneOf<ModuleModel> {
  Q_OBJECT
 public:
  explicit ModulesPane(Document& document, QWidget* parent = nullptr);

 protected:
  void refresh() override;
};

}  // namespace jointer::views
