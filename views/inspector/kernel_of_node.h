#pragma once

#include "views/session/kernels/shown_kernels.h"
#include "views/widgets/inspector_content.h"

namespace jointer::views {

inline constexpr std::size_t kMaxNeighborRefusals = 8;

// Describes how a node runs in the kernels: the kernel with its other nodes, time and bytes; how
// long the node's result is live; and why the kernel was not fused with the kernels of the node's
// inputs and users, with at most kMaxNeighborRefusals reasons. Lifetimes are known only for
// predicted kernels, and reasons are not known for compiled ones. Has no rows if the node runs in
// no kernel. Cost: linear in the kernels, their nodes and the part's refused pairs.
InspectorSection describe_kernel_of(const SnapshotKernels& of, NodeId node,
                                    ShownKernels::Source source);

}  // namespace jointer::views
