#pragma once

#include <memory>

#include "core/capture/compile_artifacts.h"
#include "views/session/kernels/snapshot_kernels.h"

namespace jointer::views {

// The kernels that a compilation has made of the snapshot's graph, or of the halves of its pair, as
// its artifacts state them. For the graph, or for each half, these are the kernels of the program
// that contains the largest number of its calls: the result has an op and a kernel for each call of
// the program, and a buffer for each block. A half without calls in kernels is left out. Sizes of
// loops, and reasons not to fuse, are unknown. `artifacts` must have at least one program. Error
// (input): no kernel contains a call of the graph.
Result<SnapshotKernelsPtr> tie_artifacts(const SnapshotPtr& snapshot,
                                         const std::shared_ptr<const CompileArtifacts>& artifacts);

}  // namespace jointer::views
