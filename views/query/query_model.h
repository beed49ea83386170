#pragma once

#include "core/query/query_result.h"
#include "views/session/snapshot/snapshot.h"
#include "views/tables/table_model.h"

namespace jointer::views {

// The result of a query, with one model row per result row. The title of a column determines the
// format of its numbers: `ns` and `..._ns` are times, `bytes` and `..._bytes` are sizes, and
// `flops` and `..._flops` are operations. Values are exported unformatted. A row selects the node
// with the id in the column `node_id` or, without that column, the node with the name in the column
// `node`.
class QueryModel : public TableModel {
  Q_OBJECT
 public:
  explicit QueryModel(QObject* parent = nullptr)
      : TableModel({tr("1 row"), tr("%1 rows")}, parent) {}

  // `snapshot` has the graph that was queried.
  void set_result(QueryResult result, SnapshotPtr snapshot);

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] QString exported(int row, int column) const override;
  [[nodiscard]] QString exported_title(int column) const override {
    return columns()[static_cast<std::size_t>(column)].title;
  }
  [[nodiscard]] std::vector<NodeId> nodes(int row) const override;
  [[nodiscard]] int row_of(NodeId node) const override;

 private:
  [[nodiscard]] const QueryValue& value(int row, int column) const {
    return result_.rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
  }
  [[nodiscard]] Column column_of(std::size_t index) const;
  [[nodiscard]] NodeId node_of(int row) const;

  QueryResult result_;
  SnapshotPtr snapshot_;
  int id_column_ = -1, name_column_ = -1;  // -1 if the result has no such column
};

}  // namespace jointer::views
