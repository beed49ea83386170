#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// The nodes that gather a parameter from FSDP's shards, according to upstream's rule: an
// all_gather_into_tensor that a chain of single-input operators connects to a placeholder, its
// wait, the slices that read the wait, and the prims.convert_element_type that the gather reads.
struct FsdpGather {
  NodeId convert;  // null if the gather reads no prims.convert_element_type
  NodeId gather;
  std::vector<NodeId> nodes;  // all of them
};

// Finds all such gathers, in program order of their waits.
std::vector<FsdpGather> fsdp_gathers(const Graph& graph);

}  // namespace jointer
