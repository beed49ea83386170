#pragma once

#include "views/compare/document_comparison.h"
#include "views/compare/state_choices.h"
#include "views/compare/state_table_model.h"
#include "views/session/work/task.h"
#include "views/tables/table_pane_of.h"

namespace jointer::views {

// The numbers of all states that can be compared, one row per state. They are computed one after
// another in the background while the table is shown. A joint graph has the numbers of the pair
// that its plan produces, and a flat training step those with its tags applied, so that all of them
// can be compared, and agree with the edit history.
class StateTable : public TablePaneOf<StateTableModel> {
  Q_OBJECT
 public:
  using Take = std::function<void(const Result<StateOfDocument>&)>;
  // Computes a state and passes it to `take` on the window's thread.
  using MakeState = std::function<void(const StateChoice& choice, const Take& take)>;

  StateTable(Document& document, MakeState make, QWidget* parent = nullptr);

  // Changes are relative to the choice with the index `reference`. If a history is long, only its
  // newest entries and the reference are shown.
  void set_choices(const std::vector<StateChoice>& choices, std::size_t reference);

 signals:
  // The user double-clicked a state or pressed Enter.
  void state_activated(const jointer::views::StateChoice& choice);

 private:
  // The numbers of a state are valid as long as the pane's document has the baseline `shown` and
  // the state's document has the baseline `baseline`. Baselines are replaced when sizes or
  // estimates change.
  struct Known {
    StateChoice choice;
    SnapshotPtr shown, baseline;
    Result<Metrics> metrics;
  };

  void refresh() override;
  void show_known();
  void compute_next();
  [[nodiscard]] SnapshotPtr baseline_of(const StateChoice& choice);
  [[nodiscard]] const Known* known(const StateChoice& choice);

  MakeState make_;
  std::vector<StateChoice> choices_;
  std::size_t reference_ = 0;
  std::vector<Known> known_;
  quint64 wanted_ = 0;  // number of the newest request
  Task<Metrics> computing_;
};

}  // namespace jointer::views
