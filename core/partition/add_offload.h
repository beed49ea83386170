#pragma once

#include <span>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Offloads `values` of a pair, distinct nodes of the forward that are saved for backward: adds
// ao.offload, ao.reload and their waits at the positions that offload_transfers.h chooses. Does
// nothing if there are no values. Error (usage): the graph is not a pair; or a value cannot be
// offloaded (Offloadable), is not saved for backward, or is also a result of the forward. The graph
// is then unchanged.
Result<void> add_offload(Graph& pair, std::span<const NodeId> values);

}  // namespace jointer
