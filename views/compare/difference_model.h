#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "views/compare/comparison.h"
#include "views/tables/table_model.h"

namespace jointer::views {

// A row a node that differs between two states.
class DifferenceModel : public TableModel {
  Q_OBJECT
 public:
  enum ColumnIndex : int {
    change_column,
    node_column,
    operator_column,
    module_column,
    places_column,
    bytes_column,
  };

  explicit DifferenceModel(QObject* parent = nullptr);

  // Null: nothing is compared.
  void set(std::shared_ptr<const Comparison> comparison);

  [[nodiscard]] const std::vector<Column>& columns() const override { return columns_; }
  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] std::uint64_t key(int row) const override;
  // None of what was removed: the graph that is shown does not have it.
  [[nodiscard]] std::vector<NodeId> nodes(int row) const override;
  [[nodiscard]] int row_of(NodeId node) const override;
  [[nodiscard]] QString things_text(std::size_t things) const override;

 private:
  [[nodiscard]] const NodeDifference& at(int row) const {
    return comparison_->nodes[static_cast<std::size_t>(row)];
  }

  std::vector<Column> columns_;
  std::shared_ptr<const Comparison> comparison_;
  std::unordered_map<NodeId, int> rows_;
};

}  // namespace jointer::views
