#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Indexed by node id: true for the calls that gather parameters from shards, and for those that
// read only gathered parameters, such as casts and views of them. Cost: linear.
std::vector<bool> gathered_weights(const Graph& graph);

}  // namespace jointer
