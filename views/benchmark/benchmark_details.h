#pragma once

#include "core/bench/result.h"
#include "views/session/snapshot/snapshot.h"
#include "views/widgets/inspector_content.h"

namespace jointer::views {

// Describes one benchmark: why it failed, the measurements of all ranks, the causes of the
// difference between the measured and the predicted peak, the nodes with the largest estimation
// errors, notes, and settings. Node names are links. `is_of_graph`: the benchmark measured the graph
// in `snapshot`; otherwise, causes and nodes are left out, since positions of calls differ.
InspectorContent describe_benchmark(const BenchmarkResult& result, const Snapshot& snapshot,
                                    bool is_of_graph);

}  // namespace jointer::views
