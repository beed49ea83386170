#pragma once

#include <algorithm>

#include "core/graph/graph.h"

namespace jointer {

// True if the graph has asynchronous collectives, which orders and buckets are about.
inline bool communicates(const Graph& graph) {
  return std::ranges::any_of(graph.order(),
                             [&](NodeId id) { return graph.is_asynchronous(graph.node(id)); });
}

}  // namespace jointer
