#pragma once

#include <cstdint>
#include <vector>

namespace jointer::views {

class SnapshotKernels;

// By which kernels are found again in another state of the graph, or in another order: the first
// node of the kernel, and the kernel's position among those with the same first node. By row.
std::vector<std::uint64_t> kernel_keys(const SnapshotKernels& of);

}  // namespace jointer::views
