#pragma once

#include <optional>

#include "core/base/result.h"
#include "views/session/edit/metrics.h"
#include "views/tables/table_model.h"

namespace jointer::views {

// One row per state: its numbers, and their changes relative to a reference state.
class StateTableModel : public TableModel {
  Q_OBJECT
 public:
  enum ColumnIndex : int {
    name_column,
    peak_column,
    peak_change_column,
    step_column,
    step_change_column,
    exposed_column,
    compute_column,
    communication_column,
    reserved_column,
    nodes_column,
  };

  struct Row {
    QString name;
    // nullopt while the numbers are being computed.
    std::optional<Result<Metrics>> metrics;
  };

  explicit StateTableModel(QObject* parent = nullptr);

  // `reference` is the index of the row that changes are relative to.
  void set(std::vector<Row> rows, std::size_t reference);

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] QString note(int row, int column) const override;
  [[nodiscard]] bool is_alarm(int row) const override;
  [[nodiscard]] std::uint64_t key(int row) const override;

 private:
  // Null while the metrics are being computed, or if they could not be computed.
  [[nodiscard]] const Metrics* metrics(std::size_t row) const;
  [[nodiscard]] std::optional<std::int64_t> change(int row, std::int64_t Metrics::*value) const;

  std::vector<Row> rows_;
  std::size_t reference_ = 0;
};

}  // namespace jointer::views
