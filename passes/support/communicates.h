#pragma once

#include <algorithm>

#include "core/graph/graph.h"

namespace jointer {

// True if the graph has collectives, or copies to or from the host. Without them, reordering and
// bucketing for overlap have no effect.
inline bool communicates(const Graph& graph) {
  return std::ranges::any_of(graph.order(),
                             [&](NodeId id) { return graph.is_asynchronous(graph.node(id)); });
}

}  // namespace jointer
