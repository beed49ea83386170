#pragma once

#include <span>

#include "core/bench/result.h"
#include "views/session/snapshot/snapshot.h"
#include "views/widgets/inspector_content.h"

namespace jointer::views {

// Compares benchmarks with the first of them: step time, memory, throughput, outcomes, and the
// settings in which they differ. For two profiled runs of one graph, it also lists the calls whose
// times differ most. `runs` has at least two elements, none of them null. `are_of_graph`: all runs
// measured the graph in `snapshot`, so that positions of their calls are positions in it;
// otherwise, calls are left out.
InspectorContent compare_runs(std::span<const BenchmarkResult* const> runs,
                              const Snapshot& snapshot, bool are_of_graph);

}  // namespace jointer::views
