#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Returns, indexed by node id, true for a parameter and for a node computed only from parameters.
// Examples are the nodes that SimpleFSDP puts before a parameter's all-gather, the gathered
// parameters, and the nodes that join parameters in a bucket.
std::vector<bool> derived_from_parameters(const Graph& graph);

}  // namespace jointer
