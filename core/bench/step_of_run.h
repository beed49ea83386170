#pragma once

#include <cstdint>

#include "core/bench/request.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer {

// Returns the estimated step time, in nanoseconds, of a graph run as `request` describes. If a
// rank runs alone, local copies replace its collectives: their exposed time is left out, and each
// copy takes the minimum duration of a kernel, plus the time to read and write the collective's
// output at the device's memory bandwidth. On a GPU, only the time by which a copy exceeds the
// hidden time of its collective counts. A captured step does not wait for the CPU to launch its
// kernels.
std::int64_t step_of_run(const Graph& graph, const Analysis& analysis,
                         const BenchmarkRequest& request);

}  // namespace jointer
