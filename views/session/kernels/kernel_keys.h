#pragma once

#include <cstdint>
#include <vector>

namespace jointer::views {

class SnapshotKernels;

// By which kernels are found again after the graph or their order has changed: in the upper 32
// bits, the first node of the kernel; in the lower ones, a hash of its other nodes plus the
// kernel's position among those with equal nodes. By row.
std::vector<std::uint64_t> kernel_keys(const SnapshotKernels& of);

}  // namespace jointer::views
