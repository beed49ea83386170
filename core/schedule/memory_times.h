#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/memory_timeline.h"
#include "core/schedule/simulation.h"

namespace jointer {

// Returns the time from which each point of the memory profile is valid in the simulated step, in
// nanoseconds from the start of the step. Times never decrease.
//
// A node allocates memory when it starts on the compute stream, and frees memory when it ends. The
// start of a collective, or of a copy to or from the host, allocates and frees memory when it is
// launched and all earlier work on the compute stream is done.
std::vector<std::int64_t> memory_times(const Graph& graph, const MemoryTimeline& memory,
                                       const Simulation& simulation);

}  // namespace jointer
