#pragma once

#include <optional>

#include "views/session/snapshot/range_figures.h"
#include "views/session/snapshot/snapshot.h"
#include "views/tables/table_model.h"

namespace jointer::views {

// One row per operator that the graph calls, or that it calls in a range, in the order of the first
// calls.
class OperatorModel : public TableModel {
  Q_OBJECT
 public:
  enum ColumnIndex : int {
    name_column,
    count_column,
    time_column,
    share_column,
    exposed_column,
    bytes_column,
    flops_column,
    forward_column,
    backward_column,
  };

  explicit OperatorModel(QObject* parent = nullptr);

  // If `figures` is given, shows only the calls that run in its range, and their time in it.
  void set_snapshot(SnapshotPtr snapshot, RangeFiguresPtr figures = {});

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] QString note(int row, int column) const override;
  [[nodiscard]] std::uint64_t key(int row) const override;
  [[nodiscard]] std::vector<NodeId> nodes(int row) const override;
  [[nodiscard]] int row_of(NodeId node) const override;

 private:
  struct Row {
    OperatorId op;
    bool is_asynchronous = false;  // a collective, or a copy to or from the host
    std::int64_t count = 0, forward = 0, bytes = 0, ns = 0, flops = 0, exposed_ns = 0;
  };

  SnapshotPtr snapshot_;
  RangeFiguresPtr figures_;  // not null once there is a snapshot
  std::vector<Row> rows_;
  std::vector<int> row_by_operator_;  // -1 for operators without a row
};

}  // namespace jointer::views
