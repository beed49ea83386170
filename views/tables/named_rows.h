#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "views/document/snapshot.h"

namespace jointer::views {

// Rows of a table that name nodes as edits do, and the graph that is shown: what a report of a pass
// says is of other states than that one, so that names lead from one to the other.
class NamedRows {
 public:
  NamedRows() = default;
  // By row; empty: the row is of no node.
  explicit NamedRows(std::vector<std::string> names);

  void set_shown(SnapshotPtr shown) { shown_ = std::move(shown); }
  [[nodiscard]] const SnapshotPtr& shown() const { return shown_; }

  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::string& name(int row) const {
    return names_[static_cast<std::size_t>(row)];
  }
  // In the graph that is shown; none if that does not have it.
  [[nodiscard]] NodeId node(int row) const;
  // The row names a node that the graph that is shown does not have.
  [[nodiscard]] bool is_gone(int row) const { return !name(row).empty() && !node(row); }
  // The first row of a node of the graph that is shown, or -1.
  [[nodiscard]] int row_of(NodeId node) const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> first_rows_;
  SnapshotPtr shown_;
};

}  // namespace jointer::views
