#pragma once

#include <cstdint>
#include <vector>

namespace jointer::views {

class SnapshotKernels;

// By which kernels are found again after the graph or their order has changed: the first node of
// the kernel, and the kernel's position among those with the same first node. By row.
std::vector<std::uint64_t> kernel_keys(const SnapshotKernels& of);

}  // namespace jointer::views
