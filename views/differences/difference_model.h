#pragma once

#include <vector>

#include "views/differences/node_differences.h"
#include "views/tables/named_rows_model.h"

namespace jointer::views {

// One row per node that differs between two states.
class DifferenceModel : public NamedRowsModel {
  Q_OBJECT
 public:
  enum ColumnIndex : int {
    change_column,
    node_column,
    places_column,
    detail_column,
    operator_column,
    module_column,
    bytes_column,
  };

  explicit DifferenceModel(QObject* parent = nullptr);

  // If `differences` is null, there are no rows. `shown` is the graph in which a row's node is
  // selected.
  void set(NodeDifferencesPtr differences, const SnapshotPtr& shown);
  // Shows only rows with this kind of change; nullopt shows all.
  void show_only(std::optional<NodeChange> change);

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] std::uint64_t key(int row) const override;

 protected:
  [[nodiscard]] bool hides_rows() const override { return only_ || TableModel::hides_rows(); }
  [[nodiscard]] bool passes(int row, const QStringList& words) const override {
    return (!only_ || at(row).change == *only_) && TableModel::passes(row, words);
  }

 private:
  [[nodiscard]] const NodeDifference& at(int row) const {
    return differences_->nodes()[static_cast<std::size_t>(row)];
  }

  NodeDifferencesPtr differences_;
  std::optional<NodeChange> only_;
};

}  // namespace jointer::views
