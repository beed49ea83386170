#include "views/tables/named_rows_model.h"

namespace jointer::views {

void NamedRowsModel::set_names(NamedRows names, SnapshotPtr shown) {
  names_ = std::move(names);
  names_.set_shown(std::move(shown));
}

QString NamedRowsModel::note(int row, int column) const {
  if (column != node_column_ || !names_.is_gone(row)) return {};
  return tr("Not in the current graph.");
}

std::vector<NodeId> NamedRowsModel::nodes(int row) const {
  const NodeId node = names_.node(row);
  return node ? std::vector{node} : std::vector<NodeId>();
}

}  // namespace jointer::views
