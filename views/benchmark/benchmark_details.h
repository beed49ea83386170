#pragma once

#include "core/bench/result.h"
#include "views/session/snapshot/snapshot.h"
#include "views/widgets/inspector_content.h"

namespace jointer::views {

// Describes one benchmark: why it failed, the measured and the predicted peak with the causes of
// their difference, the step time with the nodes that have the largest estimation errors, the
// collectives in which ranks waited for other ranks, the ranks and their GPUs, the verification of
// the outputs, notes, and settings. Nodes that are in the snapshot's graph are links.
// `is_of_graph`: the benchmark measured the graph in `snapshot`; otherwise, causes, estimation
// errors and waiting are left out, since the positions of calls differ.
InspectorContent describe_benchmark(const BenchmarkResult& result, const Snapshot& snapshot,
                                    bool is_of_graph);

}  // namespace jointer::views
