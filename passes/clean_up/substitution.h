#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Lets the readers of some nodes read others instead, and erases those nodes at the end.
class Substitution {
 public:
  // The graph must outlive it, and have no other changes until `finish`.
  explicit Substitution(Graph& graph);

  // Whether a call may be taken away. A value that a forward hands to its backward may not: the
  // backward asks for it by name.
  [[nodiscard]] bool may_go(NodeId node) const;
  // What stands for a node now: itself, or what it was replaced by.
  [[nodiscard]] NodeId now(NodeId node) const;
  // `by` comes before `node`, holds the same values in the same sizes, and is not to be replaced
  // later.
  void replace(NodeId node, NodeId by);
  // The arguments of a node as they will be.
  [[nodiscard]] Argument now(const Argument& argument);
  [[nodiscard]] bool any() const { return !gone_.empty(); }

  // Rewires every reader, tells views of what went whose they are now, erases. Error: as
  // Graph::finish.
  Result<void> finish();

 private:
  void join_storages(NodeId node, NodeId by);
  void move_views();

  Graph& graph_;
  std::vector<NodeId> replacement_;   // by node; none: itself
  std::vector<bool> is_handed_over_;  // by node
  std::vector<NodeId> gone_;
  std::vector<StorageId> storage_now_;  // by storage; none: itself
};

}  // namespace jointer
