#pragma once

#include <QComboBox>
#include <QToolButton>

#include "views/pipeline/report/decision_model.h"
#include "views/tables/table_pane.h"

namespace jointer::views {

// The decisions of some steps, to be searched, sorted, copied: of one action, or about the selected
// nodes alone. A row selects its node.
class DecisionTable : public TablePane {
  Q_OBJECT
 public:
  explicit DecisionTable(Document& document, QWidget* parent = nullptr);

  void set(DecisionList list);
  // Of one action alone; empty: of all.
  void show_action(const std::string& action);

  [[nodiscard]] DecisionModel& model() { return *model_; }
  [[nodiscard]] QComboBox& action_box() { return *actions_; }
  // Checked: decisions about the selected nodes alone.
  [[nodiscard]] QToolButton& selected_button() { return *selected_; }

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  DecisionTable(Document& document, DecisionModel* model, QWidget* parent);
  void refresh() override;
  void fit();
  void fit_reasons();
  void fill_actions();
  void take_selection();

  DecisionModel* model_;
  QComboBox* actions_ = nullptr;
  QToolButton* selected_ = nullptr;
  std::unordered_set<std::string> only_;  // names of the nodes that the table is about
};

}  // namespace jointer::views
