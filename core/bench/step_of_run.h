#pragma once

#include <cstdint>

#include "core/bench/request.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer {

// The estimated step, in nanoseconds, as a request runs it. Local copies replace the collectives of
// a rank that runs alone: nothing is communicated, and each copy reads and writes the collective's
// output on the compute stream, at the rate of the device's memory. A recorded step does not wait for
// the CPU to launch its kernels.
std::int64_t step_of_run(const Graph& graph, const Analysis& analysis,
                         const BenchmarkRequest& request);

}  // namespace jointer
