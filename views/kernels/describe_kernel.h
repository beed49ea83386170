#pragma once

#include "views/session/kernels/snapshot_kernels.h"
#include "views/widgets/inspector_content.h"

namespace jointer::views {

inline constexpr std::size_t kMaxRefusals = 50;

// Describes a kernel: the nodes that run in it, its iterations, bytes and time; the buffers that it
// reads and writes, with the kernels between which they are live; and the kernels with which it was
// not fused, nearest first, with the reasons. Lists at most kMaxRefusals reasons, then the number
// of the others.
InspectorContent describe_kernel(const SnapshotKernels& of, std::size_t row);

}  // namespace jointer::views
