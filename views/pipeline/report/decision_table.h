#pragma once

#include <QComboBox>
#include <QToolButton>

#include "views/pipeline/report/decision_model.h"
#include "views/tables/table_pane_of.h"

namespace jointer::views {

// The decisions of one or more steps, which can be searched, sorted, copied, and filtered by action
// or by the selected nodes. Selecting a row selects its node.
class DecisionTable : public TablePaneOf<DecisionModel> {
  Q_OBJECT
 public:
  explicit DecisionTable(Document& document, QWidget* parent = nullptr);

  void set(DecisionList list);
  // True if there is a decision with this action.
  [[nodiscard]] bool has_action(const std::string& action) const;
  // Shows only this action; empty text, and an action without decisions, show all.
  void show_action(const std::string& action);

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh() override { model_->set_shown(document().shared_snapshot()); }
  void fit();
  void fit_reasons();
  void fill_actions();
  void follow_selection();
  // Says why no decisions are shown, if none are.
  void show_empty_text();

  QComboBox* actions_ = nullptr;
  QToolButton* selected_ = nullptr;  // if checked, shows only decisions about the selected nodes
  std::unordered_set<std::string> only_;  // names of the nodes whose decisions are shown
};

}  // namespace jointer::views
