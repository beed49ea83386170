#pragma once

#include "views/session/kernels/snapshot_kernels.h"
#include "views/widgets/inspector_content.h"

namespace jointer::views {

// The measured and the predicted time of the kernel in which a node runs. Has no rows if
// the node runs in no kernel that launches. `of`: measured kernels.
InspectorSection describe_measured_kernel_of(const SnapshotKernels& of, NodeId node);

}  // namespace jointer::views
