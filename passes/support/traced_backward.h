#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Indexed by node: true if autograd traced the node for the backward. If the capture does not flag
// such nodes, the phase decides. Recomputed calls are in the backward by phase but not by flag;
// torchtitan's passes make the same distinction.
std::vector<bool> traced_in_backward(const Graph& graph);

}  // namespace jointer
