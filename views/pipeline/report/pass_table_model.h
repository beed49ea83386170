#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/pass/pass_table.h"
#include "views/tables/named_rows_model.h"

namespace jointer::views {

// A table reported by a pass, with arbitrary columns. Only times and counts are summed; bytes, for
// example, are mostly values at one moment. If a table lists nodes, rows without a node are the
// pass's own totals: the model excludes them, and `summary` shows them.
class PassTableModel : public NamedRowsModel {
  Q_OBJECT
 public:
  using TablePtr = std::shared_ptr<const PassTable>;

  explicit PassTableModel(QObject* parent = nullptr);

  void set(TablePtr table, const SnapshotPtr& shown);
  // "all: improvement 12.4 ms · moves 412"; empty if the table has no totals.
  [[nodiscard]] QString summary() const;

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;

 private:
  [[nodiscard]] const PassTable::Row& at(int row) const {
    return *rows_[static_cast<std::size_t>(row)];
  }
  // Null if the row lacks the cell, which can happen with third-party passes.
  [[nodiscard]] const PassTable::Cell* cell(const PassTable::Row& row, int column) const;

  TablePtr table_;
  std::vector<const PassTable::Row*> rows_, sums_;  // owned by `table_`
};

}  // namespace jointer::views
