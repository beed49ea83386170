#pragma once

#include "core/graph/graph.h"

namespace jointer {

// True if the node is a getitem, which usually reads an element of a tuple or list.
inline bool is_element(const Graph& graph, NodeId id) {
  const Node& n = graph.node(id);
  return n.kind == NodeKind::call && graph.op(n).is_getitem && n.input_count > 0;
}

// For an element: the node that returns the tuple, possibly nested, that the element is read from.
// For any other node: the node itself.
inline NodeId tuple_call(const Graph& graph, NodeId id) {
  while (is_element(graph, id)) id = graph.inputs(id).front();
  return id;
}

}  // namespace jointer
