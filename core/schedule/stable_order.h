#pragma once

// An order that keeps dependencies and is otherwise the one that was given.

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

// `order`: the nodes of `dependencies`' graph, each once, in a wanted order that may break
// dependencies; the result has the same nodes. Each node stands where it stood, or, if something
// that it depends on comes later, right behind the last of that. Nodes that wait for the same one
// keep their order. Placeholders and outputs part the order: nothing crosses them, and a node with
// one between it and what it needs is an error. Error (usage): the dependencies and edges make a
// cycle, or lead over a placeholder or output; a node is named.
// `ignores`: dependencies that do not hold, and of which node; may be empty.
// Cost: linear in nodes and dependencies.
// Source: torch/_dynamo/graph_deduplication.py, _stable_topological_sort, which gives the same
// order.
Result<std::vector<NodeId>> stable_order(const Graph& graph, const Dependencies& dependencies,
                                         std::span<const NodeId> order,
                                         std::span<const OrderEdge> edges = {},
                                         const IgnoredDependency& ignores = {});

}  // namespace jointer
