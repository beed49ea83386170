#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Replaces nodes with other nodes. `finish` redirects the readers and erases the replaced nodes.
class Substitution {
 public:
  // The graph must outlive this object. Until `finish`, nothing else may add, remove or move nodes.
  explicit Substitution(Graph& graph);

  // True if the call may be removed. A value that a forward returns to its backward must stay,
  // because the backward looks it up by name.
  [[nodiscard]] bool can_remove(NodeId node) const;
  // The node's replacement, or the node itself if it has none.
  [[nodiscard]] NodeId now(NodeId node) const;
  // `by` must precede `node`, have the same values and sizes, and not be replaced later.
  void replace(NodeId node, NodeId by);
  // The argument after all replacements so far.
  [[nodiscard]] Argument now(const Argument& argument);

  // Redirects all readers, moves views of removed storages to the storages that replace them, and
  // erases the replaced nodes. Error: Graph::finish fails.
  Result<void> finish();

 private:
  void join_storages(NodeId node, NodeId by);
  void move_views();

  Graph& graph_;
  std::vector<NodeId> replacement_;  // by node; none: itself
  std::vector<bool> is_returned_;    // by node
  std::vector<NodeId> gone_;
  std::vector<StorageId> storage_now_;  // by storage; none: itself
};

}  // namespace jointer
