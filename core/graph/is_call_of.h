#pragma once

#include <string_view>

#include "core/graph/graph.h"

namespace jointer {

// True if the node calls the operator `target`.
inline bool is_call_of(const Graph& graph, const Node& n, std::string_view target) {
  return n.kind == NodeKind::call && graph.target(n) == target;
}
inline bool is_call_of(const Graph& graph, NodeId id, std::string_view target) {
  return is_call_of(graph, graph.node(id), target);
}

}  // namespace jointer
