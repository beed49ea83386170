#pragma once

#include "core/graph/graph.h"

namespace jointer {

// The call that computes a value: for an element of a call's tuple, that call; otherwise the node
// itself.
NodeId source_call(const Graph& graph, NodeId id);

}  // namespace jointer
