#pragma once

// The time that each kernel takes on the device.

#include <cstdint>
#include <span>
#include <vector>

#include "core/cost/device.h"
#include "core/cost/estimator.h"
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"

namespace jointer::kernels {

struct KernelTime {
  std::int64_t ns = 0;  // on the device; 0 for kernels that launch nothing
  NodeCost::Limit limit = NodeCost::Limit::none;
  bool is_launch = false;  // runs on the device
  bool is_memory_bound = false;
  // True if `ns` is the sum of the nodes' estimates (external kernels, templates, collectives) or,
  // for a template with fused loops, the time of all its bytes if that is longer.
  bool is_time_of_nodes = false;
  // The time at the device's peak rates, without launches, at most `ns`; `ns - roofline_ns` is lost
  // compared with the roofline. For collectives, and for kernels whose nodes count in an earlier
  // one: `ns`.
  std::int64_t roofline_ns = 0;
};

// True if memory traffic bounds the kernel, by the FLOPs that torch's flop_registry has for the
// nodes of `graph`.
bool is_memory_bound(const Graph& graph, const Kernel& kernel);

// Returns the times by kernel. `node_costs`: by node id, the result of estimate_all. A node that
// runs in several kernels counts in the first.
std::vector<KernelTime> kernel_times(const Graph& graph, const Ir& ir, const Kernels& kernels,
                                     std::span<const NodeCost> node_costs,
                                     const DeviceDescription& device);

}  // namespace jointer::kernels
