#pragma once

#include <vector>

#include "views/session/edit/edit_history.h"
#include "views/tables/table_model.h"

namespace jointer::views {

// One row per state: the graph as opened and the state after each history entry, or the named
// states.
class HistoryModel : public TableModel {
  Q_OBJECT
 public:
  enum ColumnIndex : int {
    place_column,
    title_column,
    by_column,
    peak_change_column,
    exposed_change_column,
    step_change_column,
    peak_column,
    exposed_column,
    step_column,
  };

  struct Row {
    QString place, title, by;
    QStringList notes;
    std::optional<Figures> figures, before;  // `before`: the base of the differences
    QString about;  // a note on the numbers, or the reason why there are none
    bool is_current = false, is_undone = false;
    bool drops_order = false;  // the order of the plan ends with this entry; `notes` say why
  };

  // `change` names the state that differences are relative to, such as "the previous state".
  HistoryModel(Counted counted, const QString& change, QObject* parent = nullptr);

  // Shows named states, whose rows have names instead of actions. Must be called before there are
  // rows.
  void show_names();

  void set(std::vector<Row> rows);
  [[nodiscard]] const Row& at(int row) const { return rows_[static_cast<std::size_t>(row)]; }

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] QString note(int row, int column) const override;

 private:
  std::vector<Row> rows_;
};

}  // namespace jointer::views
