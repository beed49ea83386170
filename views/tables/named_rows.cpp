#include "views/tables/named_rows.h"

#include "core/edit/edit.h"
#include "core/edit/half_name.h"

namespace jointer::views {

NamedRows::NamedRows(std::vector<std::string> names) : names_(std::move(names)) {
  first_rows_.reserve(names_.size());
  for (std::size_t row = 0; row < names_.size(); ++row)
    if (!names_[row].empty()) first_rows_.emplace(names_[row], static_cast<int>(row));
}

NodeId NamedRows::node(int row) const {
  if (!shown_ || name(row).empty()) return {};
  if (const NodeId node = shown_->graph.find(name(row))) return node;
  return shown_->graph.is_pair() ? NodeId{} : shown_->graph.find(split_half(name(row)).name);
}

int NamedRows::row_of(NodeId node) const {
  if (!shown_ || !node || node.index() >= shown_->graph.node_count()) return -1;
  const std::string name = edit_name(shown_->graph, node);
  for (const std::string_view half : {std::string_view(), kForward, kBackward})
    if (const auto found = first_rows_.find(std::string(half) + name); found != first_rows_.end())
      return found->second;
  return -1;
}

}  // namespace jointer::views
