#pragma once

#include <span>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Offloads `values`, forward nodes of a pair whose results are saved for backward: adds ao.offload,
// ao.reload and their waits at the positions that offload_transfers.h chooses. Error (usage): a
// value is not a dense tensor that a forward call returns and the pair saves for backward; the
// graph is then unchanged.
Result<void> add_offload(Graph& pair, std::span<const NodeId> values);

}  // namespace jointer
