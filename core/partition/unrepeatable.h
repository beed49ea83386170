#pragma once

#include <vector>

#include "core/graph/graph.h"
#include "core/partition/joint_parts.h"

namespace jointer {

// Indexed by node id: true for calls that would give a different result if recomputed in the
// backward (see unrepeatable.cpp). Empty if nothing in the graph writes.
std::vector<bool> find_unrepeatable(const Graph& graph, const NodePlaces& places);

// The first call that writes to anything but an input of the graph, or that writes to an input with
// an operator other than aten.copy_.default, aten.set_.source_Tensor or fsdp.copy_.default. None in
// a functional graph.
NodeId find_write_in_between(const Graph& graph);

}  // namespace jointer
