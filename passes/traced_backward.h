#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// By node: autograd traced it for the backward. Where a capture has no such flags, the phase says
// so. Recomputed calls are backward by phase and not by flag, as torchtitan's passes tell them
// apart.
std::vector<bool> traced_in_backward(const Graph& graph);

}  // namespace jointer
