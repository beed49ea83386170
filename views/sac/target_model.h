#pragma once

#include <unordered_map>
#include <vector>

#include "core/partition/plan_target.h"
#include "views/session/snapshot/snapshot.h"
#include "views/tables/table_model.h"

namespace jointer::views {

// The lines of a list of changes, each with the plan's peak memory and step time after it.
class TargetModel : public TableModel {
  Q_OBJECT
 public:
  enum ColumnIndex : int {
    change_column,
    module_column,
    count_column,
    bytes_column,
    peak_column,
    step_column,
    time_column,
  };

  explicit TargetModel(QObject* parent = nullptr);

  // `snapshot` contains the nodes of the list.
  void set_list(const ChangeList& list, SnapshotPtr snapshot);

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] std::vector<NodeId> nodes(int row) const override { return at(row).move.nodes(); }
  [[nodiscard]] int row_of(NodeId node) const override;

 private:
  [[nodiscard]] const ListedChange& at(int row) const {
    return list_.changes[static_cast<std::size_t>(row)];
  }
  [[nodiscard]] const Figures& before(int row) const {
    return row == 0 ? list_.before.figures : at(row - 1).after.figures;
  }

  ChangeList list_;
  SnapshotPtr snapshot_;
  std::unordered_map<NodeId, int> rows_;
};

}  // namespace jointer::views
