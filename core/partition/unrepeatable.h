#pragma once

#include <vector>

#include "core/graph/graph.h"
#include "core/partition/joint_parts.h"

namespace jointer {

// Calls of the forward that would be something else if they were made again in the backward: see
// unrepeatable.cpp. By node; empty if nothing in the graph writes.
std::vector<bool> find_unrepeatable(const Graph& graph, const NodePlaces& places);

// The first call that writes to something else than an input of the graph; none in a functional
// graph.
NodeId find_write_in_between(const Graph& graph);

}  // namespace jointer
