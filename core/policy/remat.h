#pragma once

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"

namespace jointer {

// Upstream's selective_activation_remat for flat training steps. Recomputes values in the backward
// as tagged, and removes the originals that only the backward read. If the backward of the layers
// reads no tagged value, the edit has no changes, and its note says why. The algorithm and its
// source are at the top of remat.cpp. Error (usage): a tagged call draws random numbers, a
// recomputed call would write to memory twice or read memory that has changed, several regions of
// the backward read tagged values, or the graph is neither a flat training step nor a joint graph.
Result<Edit> selective_activation_remat(const Graph& graph);

}  // namespace jointer
