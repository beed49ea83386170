#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// The state of torch's fused AdamW for one tensor of a parameter: two fp32 moments and a 4-byte
// step count, each rounded up as by the device's allocator.
struct ParameterState {
  NodeId parameter;
  std::int64_t bytes = 0;         // in total
  std::int64_t moment_bytes = 0;  // of each moment
};

// Returns the states for the parameters on the graph's main device or on a device of type `device`,
// in program order. Parameters that a pair's backward receives again do not count. `device`
// determines the rounding; without `rounds_sizes`, nothing is rounded.
std::vector<ParameterState> optimizer_states(const Graph& graph, DeviceType device,
                                             bool rounds_sizes = true);

}  // namespace jointer
