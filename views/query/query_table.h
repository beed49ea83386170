#pragma once

#include "views/query/query_model.h"
#include "views/tables/table_pane.h"

namespace jointer::views {

// The rows of a query. A row with a node selects it.
class QueryTable : public TablePane {
  Q_OBJECT
 public:
  explicit QueryTable(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] const QueryModel& model() const { return *model_; }
  void show_result(QueryResult result, SnapshotPtr snapshot);

 protected:
  // The rows change only when a new result arrives.
  void refresh() override {}

 private:
  QueryTable(Document& document, QueryModel* model, QWidget* parent);
  void show_age();

  QueryModel* model_;
  SnapshotPtr queried_;  // null before the first result
};

}  // namespace jointer::views
