#pragma once

#include <QPushButton>

#include "views/sac/target_model.h"
#include "views/tables/table_pane_of.h"

namespace jointer::views {

// The lines of a list of changes. Selecting a line selects its values in the document.
class TargetTable : public TablePaneOf<TargetModel> {
  Q_OBJECT
 public:
  explicit TargetTable(Document& document, QWidget* parent = nullptr);

  void show_list(const ChangeList& list, const SnapshotPtr& snapshot);
  [[nodiscard]] QPushButton& apply_button() { return *apply_; }

 protected:
  void refresh() override {}

 private:
  QPushButton* apply_ = nullptr;
};

}  // namespace jointer::views
