#pragma once

#include <string>

#include "core/bench/result.h"
#include "core/graph/graph.h"

namespace jointer::cli {

// A table of the collectives of a profiled run in which ranks waited longest for other ranks. Leaves
// out waits within the error of the clocks. Empty if none are left, or if fewer than two ranks of a
// group were profiled. `graph`: the first rank's graph.
std::string skew_table(const BenchmarkResult& result, const Graph& graph);

// The same for all collectives, with the span of each rank, as a member of the JSON object:
// `"skew":{...}`, or `"skew":null`.
std::string skew_member(const BenchmarkResult& result, const Graph& graph);

}  // namespace jointer::cli
