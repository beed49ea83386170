#pragma once

#include <string>

#include "app/cli/commands/options.h"
#include "core/bench/result.h"
#include "core/graph/graph.h"

namespace jointer::cli {

// A table of the collectives at which ranks of a profiled run waited longest for other ranks.
// Leaves out waits within the error of the clocks. Empty if none are left, or if fewer than two
// ranks of a group were profiled. `graph`: the first rank's graph.
std::string skew_table(const BenchmarkResult& result, const Graph& graph);

// The same for all collectives, including waits within the error of the clocks, with the span of
// each rank; null if there are none.
Json skew_json(const BenchmarkResult& result, const Graph& graph);

}  // namespace jointer::cli
