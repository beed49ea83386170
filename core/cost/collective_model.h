#pragma once

#include <cstdint>

#include "core/cost/device.h"
#include "core/graph/graph.h"

namespace jointer {

// The nodes on which the ranks of a group run. Ranks fill nodes in order: rank r of the job is on
// node r / gpus_per_node. If the capture does not contain the group's ranks, they are assumed to be
// rank_stride apart, beginning with rank 0. A collective without a group, or with an empty one, has
// estimated_group_size ranks.
struct GroupPlacement {
  std::int64_t ranks = 1;
  std::int64_t nodes = 1;
  // On the node with the fewest ranks, which has the smallest share of the network.
  std::int64_t ranks_per_node = 1;
};
GroupPlacement place_group(const Graph& graph, const Node& collective, std::int64_t gpus_per_node);

// The total bytes of the tensors that a call reads.
std::int64_t input_bytes(const Graph& graph, const Node& call);

// The same for a collective, without the buffers that `out` provides for its results.
std::int64_t collective_input_bytes(const Graph& graph, const Node& collective);

// The total bytes of a collective's inputs or of its results on one rank, whichever is larger.
std::int64_t collective_bytes(const Graph& graph, const Node& collective);

// The duration of a collective in milliseconds, by the model in collective_model.cpp; 0 in a group
// of one.
double collective_ms(CollectiveKind kind, std::int64_t bytes, const GroupPlacement& placement,
                     const DeviceDescription& device);

}  // namespace jointer
