#pragma once

#include <QComboBox>

#include "views/differences/plan_difference_model.h"
#include "views/tables/table_pane_of.h"

namespace jointer::views {

// The changes between two plans, by layer, operator or value. Selecting rows selects their nodes in
// the document.
class PlanDifferenceTable : public TablePaneOf<PlanDifferenceModel> {
  Q_OBJECT
 public:
  explicit PlanDifferenceTable(Document& document, QWidget* parent = nullptr);

  void set(PlanChangesPtr changes);
  void say(const QString& text) { set_empty_text(text); }
  // The sentence above the table.
  void set_title(const QString& text) { set_headline(text); }

 private:
  void refresh() override { model_->set(changes_, document().shared_snapshot()); }

  QComboBox* grouping_ = nullptr;
  PlanChangesPtr changes_;
};

}  // namespace jointer::views
