#pragma once

// Computes an order that keeps dependencies and otherwise follows the given order.

#include <functional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/graph/dependencies.h"
#include "core/graph/graph.h"

namespace jointer {

struct OrderEdge {
  NodeId before, after;
};

using IgnoredDependency = std::function<bool(const Dependency& dependency, NodeId of)>;

// `order`: the nodes of the graph of `dependencies`, each once, in an order that may break
// dependencies. The result contains the same nodes. Each node keeps its position or, if it depends
// on later nodes, follows right after the last of them. Nodes that wait for the same node keep
// their order. Placeholders and outputs divide the order: nothing crosses them. Error (usage): the
// dependencies and edges form a cycle or cross a placeholder or output; the message names a node.
// `ignores`: returns true for a node's dependency that does not hold; may be empty.
// Cost: linear in nodes and dependencies.
// Source: torch/_dynamo/graph_deduplication.py, _stable_topological_sort, which gives the same
// order.
Result<std::vector<NodeId>> stable_order(const Graph& graph, const Dependencies& dependencies,
                                         std::span<const NodeId> order,
                                         std::span<const OrderEdge> edges = {},
                                         const IgnoredDependency& ignores = {});

}  // namespace jointer
