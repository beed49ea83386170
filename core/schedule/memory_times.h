#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/memory_timeline.h"
#include "core/schedule/simulation.h"

namespace jointer {

// The times at which memory changes in the simulated step: for each point of the memory profile,
// the time from which it is valid, in nanoseconds. Times never decrease.
//
// Memory is allocated when a node starts on the compute stream, and freed when the node ends. The
// buffer of a collective, or of a copy to or from the host, is allocated when it is launched.
std::vector<std::int64_t> memory_times(const Graph& graph, const MemoryTimeline& memory,
                                       const Simulation& simulation);

}  // namespace jointer
