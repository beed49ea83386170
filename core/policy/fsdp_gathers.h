#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// The nodes that gather a whole parameter from FSDP's shard, by upstream's rule: a wait for an
// all_gather_into_tensor that a chain of single-input operators connects to a placeholder, the
// slices that read the wait, and the prims.convert_element_type that feeds the gather.
struct FsdpGather {
  NodeId convert;  // none if the shard is gathered as it is
  NodeId gather, wait;
  std::vector<NodeId> slices;
};

// Finds all such gathers, in the program order of their waits.
std::vector<FsdpGather> fsdp_gathers(const Graph& graph);

}  // namespace jointer
