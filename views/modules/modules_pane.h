#pragma once

#include "views/modules/module_model.h"
#include "views/tables/table_pane_of.h"

namespace jointer::views {

// The modules with their totals. Selecting a row selects all nodes in its subtree. Saved bytes are
// those of the current plan, if there is one.
class ModulesPane : public TablePaneOf<ModuleModel> {
  Q_OBJECT
 public:
  explicit ModulesPane(Document& document, QWidget* parent = nullptr);

 protected:
  void refresh() override;

 private:
  // The values that the plan saves; nullopt if there is no plan, or until it is known.
  [[nodiscard]] std::optional<SavedValues> saved();
};

}  // namespace jointer::views
