#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/cost/device.h"
#include "core/graph/graph.h"

namespace jointer {

// The rates that a call reached in a measured time. A rate is per second, and 0 if it does not
// apply to the call; a share is the fraction of the device's peak, and 0 if it is not known.
struct AchievedRates {
  double flops = 0, flops_share = 0;  // peak: dense, of the type of the call's first result
  double bytes = 0, bytes_share = 0;  // of device memory, as counted by node_traffic
  // Only for collectives: the "bus bandwidth" of nccl-tests (doc/PERFORMANCE.md), the rate at which
  // a rank's link carries data, independent of the number of ranks. Peak: the links inside a node;
  // no share if the group spans several nodes. Both are 0 if the number of ranks is unknown.
  double bus = 0, bus_share = 0;
  friend bool operator==(const AchievedRates&, const AchievedRates&) = default;
};

// `ns`: how long the call's kernels or its communication took; if not positive, all rates are 0.
// `device`: where it was measured; null if its peaks are not known.
AchievedRates achieved_rates(const Graph& graph, const Node& call, std::int64_t ns,
                             const DeviceDescription* device, std::int64_t gpus_per_node);

// The rates as text: "412 TFLOP/s (41.7% of peak), 1,200 GB/s (36% of peak)"; empty if none apply.
std::string rates_text(const AchievedRates& rates);

// Returns true if the description is that of the GPU whose driver reports this name. False for
// CPUs: a rank has only some of the cores.
bool describes_gpu(const DeviceDescription& device, std::string_view name);

}  // namespace jointer
