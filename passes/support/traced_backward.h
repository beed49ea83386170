#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Indexed by node: true if the node was traced while autograd ran the backward. If the capture does
// not flag such nodes, the phase decides. The phase of recomputed calls is backward, but they are
// not flagged; torchtitan's passes make the same distinction.
std::vector<bool> traced_in_backward(const Graph& graph);

}  // namespace jointer
