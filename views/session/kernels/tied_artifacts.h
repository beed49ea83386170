#pragma once

#include <memory>

#include "core/capture/compile_artifacts.h"
#include "views/session/kernels/snapshot_kernels.h"

namespace jointer::views {

// The kernels that a compilation has made of the snapshot's graph, or of the halves of its pair, as
// its artifacts state them. Each half has the program whose kernels contain most of its calls, with
// an op and a kernel for each call of the program, and a buffer for each block. Sizes of loops, and
// reasons not to fuse, are unknown. `artifacts`: with at least one program. Error (input): no
// kernel contains a call of the graph.
Result<SnapshotKernelsPtr> tie_artifacts(const SnapshotPtr& snapshot,
                                         const std::shared_ptr<const CompileArtifacts>& artifacts);

}  // namespace jointer::views
