#pragma once

#include <vector>

#include "views/session/benchmark/benchmark_row.h"
#include "views/session/snapshot/snapshot.h"
#include "views/tables/table_model.h"

namespace jointer::views {

// One row per benchmark, newest first: predictions, measurements and status. Selecting the row of a
// failed run selects the node at which the run failed. Measurements are among the first columns, so
// that a narrow pane shows them.
class BenchmarkModel : public TableModel {
  Q_OBJECT
 public:
  enum ColumnIndex : int {
    when_column,
    step_column,
    step_change_column,
    peak_column,
    peak_change_column,
    status_column,
    backend_column,
    ranks_column,
    predicted_step_column,
    predicted_peak_column,
    tokens_column,
    tflops_column,
    mfu_column,
    verified_column,
    device_column,
  };

  explicit BenchmarkModel(QObject* parent = nullptr);

  // `rows` are in stored order, oldest first.
  void set_rows_of(SnapshotPtr snapshot, std::vector<BenchmarkRow> rows);
  [[nodiscard]] const BenchmarkRow& benchmark(int row) const {
    return rows_[rows_.size() - 1 - static_cast<std::size_t>(row)];
  }

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] QString note(int row, int column) const override;
  [[nodiscard]] bool is_alarm(int row) const override;
  [[nodiscard]] std::uint64_t key(int row) const override { return benchmark(row).id; }
  [[nodiscard]] std::vector<NodeId> nodes(int row) const override;

 private:
  [[nodiscard]] const BenchmarkResult& result(int row) const { return *benchmark(row).result; }

  SnapshotPtr snapshot_;
  std::vector<BenchmarkRow> rows_;
};

}  // namespace jointer::views
