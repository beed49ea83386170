#pragma once

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"

namespace jointer {

// Upstream's selective_activation_remat for flat training steps. Recomputes values in the backward
// as tagged, and removes the originals that only the backward read. Without such tags, the edit has
// no changes. The algorithm and its source are at the top of remat.cpp. Error (usage): a tagged
// call draws random numbers, recomputing a call would change the contents of memory, several
// regions of the backward read tagged values, or the graph is neither a flat training step nor a
// joint graph.
Result<Edit> selective_activation_remat(const Graph& graph);

}  // namespace jointer
