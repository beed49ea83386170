#pragma once

// Inductor's estimate of the time of each kernel, on which the passes decide (`estimate_op_runtime`
// with its default).
//
// A collective takes the time of torch's formula for NCCL; waits, and results without a data type
// (tuples, attention), take none; every other kernel takes the time to read and write its
// bytes, or to compute the FLOPs of its library's call if that is longer. A type without a peak in
// torch's data sheet takes none.
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

// `ir`: of `graph`, which must not be a pair. By op: milliseconds of the kernel whose first op it
// is; 0 for other ops. `kernels`: all kernels of the Ir, in any order.
std::vector<double> torch_kernel_times(const Graph& graph, const kernels::Ir& ir,
                                       const kernels::Kernels& kernels,
                                       const DeviceDescription& device, TorchVersion torch,
                                       std::int64_t gpus_per_node = 8);

}  // namespace jointer
