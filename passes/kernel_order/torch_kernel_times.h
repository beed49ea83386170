#pragma once

// Inductor's estimate of the time of each kernel, on which the passes base their decisions
// (`estimate_op_runtime` with its default).
//
// A collective takes the time of torch's formula for NCCL. Waits, kernels on the CPU, and kernels
// whose first result has no dtype (tuples, attention), or one without a peak in torch's data sheet,
// take no time. Every other kernel takes the time to read and write its bytes or, if that is
// longer, to compute the FLOPs of its library calls and templates.
//
// Source: torch._inductor.scheduler (`get_estimated_runtime`, `estimate_flops`),
// torch._inductor.comm_analysis (`estimate_nccl_collective_runtime`). Deviation: peaks are those of
// the device's description, which are dense (torch 2.11 has twice the peak of an H100).

#include <cstdint>
#include <vector>

#include "core/base/torch_version.h"
#include "core/cost/device.h"
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"

namespace jointer {

// Returns, indexed by op, the milliseconds of the kernel that begins with this op; 0 for other ops.
// `ir` is that of `graph`, which must not be a pair. `kernels`: all kernels of the Ir, in any
// order.
std::vector<double> torch_kernel_times(const Graph& graph, const kernels::Ir& ir,
                                       const kernels::Kernels& kernels,
                                       const DeviceDescription& device, TorchVersion torch,
                                       std::int64_t gpus_per_node = 8);

}  // namespace jointer
