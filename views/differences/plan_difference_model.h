#pragma once

#include "views/session/sac/plan_changes.h"
#include "views/tables/named_rows_model.h"

namespace jointer::views {

// The values whose policies or costs differ between two plans, grouped by layer or operator, or
// ungrouped. Identical adjacent layers share a row, and their corresponding values share the rows
// below it. Rows refer to nodes of the shown graph by their names.
class PlanDifferenceModel : public NamedRowsModel {
  Q_OBJECT
 public:
  enum ColumnIndex : int {
    name_column,
    change_column,
    saved_column,
    host_column,
    time_column,
    operator_column,
    module_column,
  };
  // nullopt shows one row per value, ungrouped.
  using Grouping = std::optional<PlanGrouping>;

  explicit PlanDifferenceModel(QObject* parent = nullptr);

  // `shown` is the document's graph. If `changes` is null, there are no rows.
  void set(PlanChangesPtr changes, const SnapshotPtr& shown);
  void set_grouping(Grouping grouping);

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] QString note(int row, int column) const override {
    return column == change_column ? text(row, column) : NamedRowsModel::note(row, column);
  }
  [[nodiscard]] std::uint64_t key(int row) const override;
  [[nodiscard]] std::vector<NodeId> nodes(int row) const override;
  [[nodiscard]] std::size_t things(int row) const override { return at(row).values.size(); }

 private:
  struct Row {
    std::vector<std::size_t> values;  // indices in the difference; a leaf has one
    QString group;                    // the name of a group; empty for a leaf
    PlanAmounts change;
    QString key = {};       // identifies a group if its name is ambiguous
    bool is_entry = false;  // corresponding values of identical layers
  };
  void make_rows(const SnapshotPtr& shown);
  void add_row(Row row, int parent);
  void add_leaves(const std::vector<std::size_t>& values, int parent);
  void add_layers(PlanChangeLayers layers);
  [[nodiscard]] const Row& at(int row) const { return rows_[static_cast<std::size_t>(row)]; }
  // The value of a leaf, or the first value of a group.
  [[nodiscard]] const PlanChangeRow& value(int row) const {
    return changes_->difference.rows[at(row).values.front()];
  }

  PlanChangesPtr changes_;
  Grouping grouping_ = PlanGrouping::layer;
  std::vector<Row> rows_;
  std::vector<int> parents_;
};

}  // namespace jointer::views
