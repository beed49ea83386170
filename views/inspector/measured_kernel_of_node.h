#pragma once

#include "views/session/kernels/snapshot_kernels.h"
#include "views/widgets/inspector_content.h"

namespace jointer::views {

// In all functions, `of` contains measured kernels.

// Adds the measured and the predicted time of a kernel that launches.
void add_measured_times(InspectorSection& section, const SnapshotKernels& of, std::size_t row);

// The measured and the predicted time of the kernel in which a node runs. Has no rows if the node
// runs in no kernel that launches.
InspectorSection describe_measured_kernel_of(const SnapshotKernels& of, NodeId node);

}  // namespace jointer::views
