#pragma once

#include <cstdint>

#include "core/bench/measurement.h"
#include "core/graph/graph.h"
#include "core/report/perfetto_events.h"
#include "core/schedule/analysis.h"

namespace jointer {

// Writes a measured run as its own process of the trace: its calls, its kernels, and a flow from
// each call to each of its kernels that starts during the call. Writes nothing if the run has no
// times. `launches`: the number of such flows in the trace so far, which is updated.
void write_measured(PerfettoEvents& events, const Graph& graph, const Analysis& analysis,
                    const Measurement& measurement, std::int64_t process, std::int64_t& launches);

}  // namespace jointer
