#pragma once

#include "views/tables/named_rows.h"
#include "views/tables/table_model.h"

namespace jointer::views {

// A table whose rows refer to nodes of the shown graph by their names. The shown graph may lack a
// row's node.
class NamedRowsModel : public TableModel {
  Q_OBJECT
 public:
  // `node_column` shows the names.
  NamedRowsModel(Counted counted, int node_column, QObject* parent = nullptr)
      : TableModel(std::move(counted), parent), node_column_(node_column) {}

  // Sets the graph in which the nodes of rows are selected.
  void set_shown(const SnapshotPtr& shown) { names_.set_shown(shown); }
  [[nodiscard]] const NamedRows& names() const { return names_; }

  [[nodiscard]] QString note(int row, int column) const override;
  // Empty if the node is not in the shown graph.
  [[nodiscard]] std::vector<NodeId> nodes(int row) const override;
  [[nodiscard]] int row_of(NodeId node) const override { return names_.row_of(node); }

 protected:
  void set_names(NamedRows names, SnapshotPtr shown);

 private:
  NamedRows names_;
  int node_column_;
};

}  // namespace jointer::views
