#pragma once

#include <QPushButton>

#include "views/sac/target_model.h"
#include "views/tables/table_pane.h"

namespace jointer::views {

// The lines of a list of changes. Selecting a line selects its values in the document.
class TargetTable : public TablePane {
  Q_OBJECT
 public:
  explicit TargetTable(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] TargetModel& model() { return *model_; }
  void show_list(const ChangeList& list, const SnapshotPtr& snapshot);
  void set_answer(const QString& sentences) { set_headline(sentences); }
  [[nodiscard]] QPushButton& apply_button() { return *apply_; }

 protected:
  void refresh() override {}

 private:
  TargetTable(Document& document, TargetModel* model, QWidget* parent);

  TargetModel* model_;
  QPushButton* apply_ = nullptr;
};

}  // namespace jointer::views
