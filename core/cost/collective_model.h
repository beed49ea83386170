#pragma once

#include <cstdint>

#include "core/cost/device.h"
#include "core/graph/graph.h"

namespace jointer {

// Placement of a group's ranks. Ranks fill nodes in order: rank r is on node r / gpus_per_node.
struct GroupPlacement {
  std::int64_t ranks = 1;
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node =
      1;  // on the node with the fewest, whose share of the network is the smallest
};
GroupPlacement place_group(const Graph& graph, const Node& collective, std::int64_t gpus_per_node);

// Bytes of a collective: the larger of what one rank sends and what it receives.
std::int64_t collective_bytes(const Graph& graph, const Node& collective);

// Milliseconds of one collective by the model described in collective_model.cpp.
double collective_ms(CollectiveKind kind, std::int64_t bytes, const GroupPlacement& placement,
                     const DeviceDescription& device);

}  // namespace jointer
