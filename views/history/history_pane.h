#pragma once

#include <QLineEdit>
#include <QPushButton>
#include <QWidget>

#include "views/history/history_model.h"
#include "views/session/edit/editing.h"
#include "views/session/sac/plan_history.h"
#include "views/tables/table_view.h"

namespace jointer::views {

class Document;

// The edit history of a document and its named states. Selecting a history entry goes to the state
// after it; activating a named state goes to that state.
class HistoryPane : public QWidget {
  Q_OBJECT
 public:
  explicit HistoryPane(Document& document, QWidget* parent = nullptr);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  QPushButton* add_button(QLayout* row, const QString& text, const QString& tip,
                          void (HistoryPane::*slot)());
  void refresh();
  void fill_entries();
  void fill_states();
  void choose_entry();
  void choose_state();
  void keep();
  void go();
  void rename();
  void remove();
  // Fills in the numbers of a state: those of its plan if states have plans, otherwise `metrics`.
  // `before` is the base of the differences.
  void add_figures(HistoryModel::Row& row, const EditHistory& history,
                   const std::optional<Metrics>& metrics, const std::optional<Figures>& before);
  // If states show the estimates of their plans, adds the effects of a history entry on the order
  // of the plan and on the estimates of the graph itself, by which users choose moves.
  void add_effects(HistoryModel::Row& row, const EditEntry& entry,
                   const std::optional<Metrics>& before) const;
  // The index of the selected named state, or -1.
  [[nodiscard]] int state() const;

  Document& document_;
  Editing& editing_;
  PlanHistory plans_;
  bool has_plans_ = false;
  HistoryModel* entry_model_;
  HistoryModel* state_model_;
  TableView* entries_ = nullptr;
  TableView* states_ = nullptr;
  QLineEdit* name_ = nullptr;
  QPushButton *keep_ = nullptr, *go_ = nullptr, *rename_ = nullptr, *remove_ = nullptr;
  // `is_fitted_`: the columns have been fitted to the numbers of all states; `has_named_`: there
  // were named states when the pane was last refreshed.
  bool is_stale_ = true, is_fitted_ = false, is_computing_ = false, has_named_ = false;
};

}  // namespace jointer::views
