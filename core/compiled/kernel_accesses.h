#pragma once

#include "core/cost/device.h"
#include "core/cost/kernel_rules.h"
#include "core/kernels/kernels.h"

namespace jointer::kernels {

// The bytes that the loops of a kernel move, by the pattern in which neighboring threads access
// them, and what the kernel reduces. Bytes whose accesses are unknown count as coalesced.
// `device.kernels` must be set.
LoopWork loop_work(const Ir& ir, const Kernel& kernel, const DeviceDescription& device);

}  // namespace jointer::kernels
