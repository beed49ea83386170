#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "views/pipeline/report/decision_list.h"
#include "views/tables/named_rows_model.h"

namespace jointer::views {

// One row per decision of a pass: what the pass did or did not do to a node, and why.
class DecisionModel : public NamedRowsModel {
  Q_OBJECT
 public:
  enum ColumnIndex : int {
    node_column,
    action_column,
    reason_column,
    effect_column,
    step_column,
  };

  explicit DecisionModel(QObject* parent = nullptr);

  void set(DecisionList list, const SnapshotPtr& shown);
  [[nodiscard]] const DecisionList& list() const { return list_; }

  // Shows only rows with this action; empty text shows all.
  void show_action(const std::string& action);
  [[nodiscard]] const std::string& action() const { return action_; }
  // Shows only rows about these nodes, given by their names in edits; nullopt shows all.
  void show_nodes(std::optional<std::unordered_set<std::string>> nodes);

  [[nodiscard]] QString text(int row, int column) const override;

 protected:
  void prepare_filter() override;
  [[nodiscard]] bool hides_rows() const override {
    return !action_.empty() || nodes_ || TableModel::hides_rows();
  }
  [[nodiscard]] bool passes(int row, const QStringList& words) const override;

 private:
  [[nodiscard]] const Decision& at(int row) const {
    return *list_.rows[static_cast<std::size_t>(row)].decision;
  }

  DecisionList list_;
  std::string action_;
  std::optional<std::unordered_set<std::string>> nodes_;
  std::vector<std::string> words_;  // words of the filter, in lower case
};

}  // namespace jointer::views
