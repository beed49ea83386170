#pragma once

// Computes an order that respects dependencies and otherwise follows the given order.

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

// Reorders nodes. `order`: all nodes of the graph, each once, in an order that may violate
// dependencies. In the result, each node keeps its place or, if it depends on later nodes, follows
// the last of these. Nodes that wait for the same node keep their order. No node crosses a
// placeholder or an output. `edges`: additional dependencies. `ignores`: returns true for
// dependencies that do not count; may be empty. Error (usage): the dependencies and edges form a
// cycle or cross a placeholder or an output; the message names a node.
// Cost: linear in nodes and their dependencies; the dependencies of a node count once more each
// time that the node has to wait.
// Source: torch/_dynamo/graph_deduplication.py, _stable_topological_sort, which gives the same
// order.
Result<std::vector<NodeId>> stable_order(const Graph& graph, const Dependencies& dependencies,
                                         std::span<const NodeId> order,
                                         std::span<const OrderEdge> edges = {},
                                         const IgnoredDependency& ignores = {});

}  // namespace jointer
