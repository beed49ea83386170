#include "views/tables/named_rows.h"

#include "core/edit/edit.h"

namespace jointer::views {

NamedRows::NamedRows(std::vector<std::string> names) : names_(std::move(names)) {
  first_rows_.reserve(names_.size());
  for (std::size_t row = 0; row < names_.size(); ++row)
    if (!names_[row].empty()) first_rows_.emplace(names_[row], static_cast<int>(row));
}

NodeId NamedRows::node(int row) const {
  if (!shown_ || name(row).empty()) return {};
  return shown_->graph.find(name(row));
}

int NamedRows::row_of(NodeId node) const {
  if (!shown_ || !node || node.index() >= shown_->graph.node_count()) return -1;
  const auto found = first_rows_.find(edit_name(shown_->graph, node));
  return found == first_rows_.end() ? -1 : found->second;
}

}  // namespace jointer::views
