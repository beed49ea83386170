#pragma once

#include <cstdint>
#include <vector>

namespace jointer::views {

class SnapshotKernels;

// The keys by which kernels are found again after the graph or their order has changed, by row. The
// upper 32 bits are the id of the kernel's first node; the lower ones are a hash of its other nodes
// plus the kernel's position among the kernels with the same nodes.
std::vector<std::uint64_t> kernel_keys(const SnapshotKernels& of);

}  // namespace jointer::views
