#pragma once

// The measurements in the result of a benchmark.

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/bench/measurement.h"
#include "core/bench/result.h"
#include "core/graph/graph.h"

namespace jointer {

// True if the two ranks ran the same graph, or if one of them did not report its graph. Ranks can
// run different graphs if each rank has its own file.
bool ran_same_graph(const RankResult& rank, const RankResult& first);

// A label for the measurements of a rank, such as "rank 0, interpret".
std::string measurement_label(const BenchmarkResult& result, const RankResult& rank);

// `rank`: a rank of `result` that reported measurements. `graph`: the graph that it ran.
Measurement measurement_of(const Graph& graph, const BenchmarkResult& result,
                           const RankResult& rank);

// The measurements of all profiled ranks, that is, of ranks with times of calls or of compiled
// blocks. If each rank has its own file, includes only the ranks that ran the same graph as the
// first rank. Error (input): the result has no hash or is of another graph than `graph`, or no rank
// was profiled.
Result<std::vector<Measurement>> profiled_ranks(const Graph& graph, const BenchmarkResult& result);

}  // namespace jointer
