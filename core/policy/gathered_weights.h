#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Indexed by node id: true for the calls that gather parameters or buffers from shards, for the
// conversions of shards that FSDP gathers, and for calls that read only such values, such as casts
// and views. Cost: linear.
std::vector<bool> gathered_weights(const Graph& graph);

}  // namespace jointer
