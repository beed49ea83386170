#pragma once

#include <string>

#include "app/cli/commands/options.h"
#include "core/bench/result.h"
#include "core/graph/graph.h"

namespace jointer::cli {

// A table of the collectives at which ranks of a profiled run waited longest for other ranks: at
// most 10, the longest wait first. Leaves out waits within the error of the clocks. Empty if none
// are left, or if no group of at least two ranks was profiled completely. `graph`: that of the
// first profiled rank.
std::string skew_table(const BenchmarkResult& result, const Graph& graph);

// All collectives and their waits as JSON, even waits within the error of the clocks, with the span
// of each rank; null if there are none.
Json skew_json(const BenchmarkResult& result, const Graph& graph);

}  // namespace jointer::cli
