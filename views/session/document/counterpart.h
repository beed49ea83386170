#pragma once

#include "core/graph/graph.h"

namespace jointer::views {

// The node of a joint graph that a node of its pair was made from, or the node of the pair that was
// made from a node of the joint graph; none if there is no such node. A call that runs in both
// halves has the same name in each. Both of its nodes have the same counterpart in the joint graph,
// whose counterpart is the one in the forward. `node` must be in `from`.
inline NodeId counterpart(const Graph& from, NodeId node, const Graph& to) {
  return to.find(from.name(node));
}

}  // namespace jointer::views
