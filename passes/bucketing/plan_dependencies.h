#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/schedule/stable_order.h"

namespace jointer {

// The dependencies of a plan: for each node, the nodes that it must follow in addition to its
// inputs. They are kept in insertion order, because the result of stable_order depends on that
// order (core/schedule/stable_order.h).
class PlanDependencies {
 public:
  using Replacement = std::pair<NodeId, NodeId>;  // a removed node, and the node that replaces it

  // `node_count` is the number of nodes in the final graph.
  explicit PlanDependencies(std::size_t node_count) : needs_(node_count), users_(node_count) {}

  void add(NodeId node, NodeId needed);
  // Transfers the dependencies of a bucket's members to the nodes that replace them. Drops a
  // dependency if the reverse dependency exists in the plan or through arguments in `graph`.
  void replace(const Graph& graph, std::span<const Replacement> members);
  // The dependencies between nodes of `graph`, grouped by node.
  [[nodiscard]] std::vector<OrderEdge> edges(const Graph& graph) const;

 private:
  using Lists = std::vector<std::vector<NodeId>>;  // by node; each element once

  [[nodiscard]] bool is_reversed(const Graph& graph, NodeId node, NodeId needed) const;

  Lists needs_;
  Lists users_;  // may also contain nodes that were replaced
};

}  // namespace jointer
