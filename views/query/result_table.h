#pragma once

#include "views/query/query_model.h"
#include "views/tables/table_pane_of.h"

namespace jointer::views {

// The result rows of a query. Selecting a row that has a node selects the node.
class ResultTable : public TablePaneOf<QueryModel> {
  Q_OBJECT
 public:
  explicit ResultTable(Document& document, QWidget* parent = nullptr);

  void show_result(QueryResult result, SnapshotPtr snapshot);
  // Removes the rows, after a query without a result.
  void clear();

 protected:
  // Does nothing, since the rows change only when a new result arrives.
  void refresh() override {}

 private:
  void show_age();

  SnapshotPtr queried_;  // null if there is no result
};

}  // namespace jointer::views
