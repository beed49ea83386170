#pragma once

#include "views/session/kernels/snapshot_kernels.h"
#include "views/widgets/inspector_content.h"

namespace jointer::views {

inline constexpr std::size_t kMaxNeighborRefusals = 8;

// Describes how a node runs in the predicted kernels: the kernel with its other nodes, time and
// bytes; what keeps the node's result; and why the node was not fused with the nodes that it reads,
// and those that read it. Without rows if the node runs in no kernel. Cost: linear in the part's
// kernels and refused pairs.
InspectorSection describe_kernel_of(const SnapshotKernels& of, NodeId node);

}  // namespace jointer::views
