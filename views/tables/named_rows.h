#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// Maps table rows to nodes of the shown graph by the names that edits use, since rows may describe
// other states of the graph, in which nodes may have different ids.
class NamedRows {
 public:
  NamedRows() = default;
  // `names`: one per row; empty if the row has no node.
  explicit NamedRows(std::vector<std::string> names);

  void set_shown(SnapshotPtr shown) { shown_ = std::move(shown); }
  [[nodiscard]] const SnapshotPtr& shown() const { return shown_; }

  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::string& name(int row) const {
    return names_[static_cast<std::size_t>(row)];
  }
  // The row's node in the shown graph; an invalid id if that graph has no such node.
  [[nodiscard]] NodeId node(int row) const;
  // Returns true if the row names a node that the shown graph does not have.
  [[nodiscard]] bool is_gone(int row) const { return !name(row).empty() && !node(row); }
  // The first row that names `node`, a node of the shown graph; -1 if there is none.
  [[nodiscard]] int row_of(NodeId node) const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> first_rows_;
  SnapshotPtr shown_;
};

}  // namespace jointer::views
