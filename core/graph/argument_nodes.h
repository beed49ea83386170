#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Appends the nodes in an argument, at any depth, in order and with repetitions.
inline void append_nodes(const Graph& graph, const Argument& argument, std::vector<NodeId>& nodes) {
  if (argument.kind == Argument::Kind::node && argument.node()) nodes.push_back(argument.node());
  for (const Argument& child : graph.children(argument)) append_nodes(graph, child, nodes);
}

}  // namespace jointer
