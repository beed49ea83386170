#pragma once

#include "core/base/result.h"
#include "views/session/kernels/snapshot_kernels.h"
#include "views/session/work/job.h"

namespace jointer::views {

// Predicts the kernels that Inductor makes of the snapshot's graph, by the rules of the version of
// torch that made the graph. Reuses those of the analysis if it has compiled the whole graph.
// Otherwise, the halves of a pair are compiled separately, at the same time. Call it on a worker
// thread. Error (cancelled): `job` was cancelled.
Result<SnapshotKernelsPtr> predict_kernels(const SnapshotPtr& snapshot, const Cancellation& job);

}  // namespace jointer::views
