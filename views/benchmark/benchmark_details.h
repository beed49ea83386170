#pragma once

#include "core/bench/result.h"
#include "views/document/snapshot.h"
#include "views/inspector/inspector_content.h"

namespace jointer::views {

// What is said of one benchmark: why it failed, every rank's figures, what makes the measured peak
// differ from the predicted one, which nodes are furthest from their estimates, notes, how it was
// asked for. Names of nodes are links.
InspectorContent describe_benchmark(const BenchmarkResult& result, const Snapshot& snapshot);

}  // namespace jointer::views
