#pragma once

#include "views/session/kernels/snapshot_kernels.h"
#include "views/widgets/inspector_content.h"

namespace jointer::views {

inline constexpr std::size_t kMaxRefusals = 50;

// Describes a kernel: the nodes that run in it, its loops, the buffers that it reads and writes
// with the kernels between which they are live, and the kernels with which it was not fused,
// nearest first, with the reason. At most kMaxRefusals of these are listed; the number of the
// others follows.
InspectorContent describe_kernel(const SnapshotKernels& of, std::size_t row);

}  // namespace jointer::views
