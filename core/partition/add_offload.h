#pragma once

#include <span>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Lets values that the forward of a pair hands over spend the time between the halves on the host:
// adds ao.offload, ao.reload and their waits, where offload_transfers.h says. `values`: nodes of
// the forward. Nothing else changes. Error (usage): one is no dense tensor that the forward hands
// over to the backward, which is made by a call; the graph is then as it was.
Result<void> add_offload(Graph& pair, std::span<const NodeId> values);

}  // namespace jointer
