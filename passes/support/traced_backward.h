#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// By node: true if autograd traced it for the backward. Without such flags in the capture, the
// phase decides. Recomputed calls are backward by phase but not by flag: torchtitan's passes
// distinguish them the same way.
std::vector<bool> traced_in_backward(const Graph& graph);

}  // namespace jointer
