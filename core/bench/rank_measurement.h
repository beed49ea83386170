#pragma once

// The measurements in the result of a benchmark.

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/bench/measurement.h"
#include "core/bench/result.h"
#include "core/graph/graph.h"

namespace jointer {

// True unless the two ranks report different graphs, which they can run if each rank has its own
// file.
bool ran_same_graph(const RankResult& rank, const RankResult& first);

// "rank 0, interpret".
std::string measurement_label(const BenchmarkResult& result, const RankResult& rank);

// `rank`: a rank of `result` that reported measurements. `graph`: the graph that the rank ran.
Measurement measurement_of(const Graph& graph, const BenchmarkResult& result,
                           const RankResult& rank);

// The measurements of the ranks that ran `graph` and were profiled: those with times of calls or of
// compiled blocks. If every rank ran its own file, only the ranks count whose graph is that of the
// first rank. Error (input): the result has no hash or is of another graph, or no rank was
// profiled.
Result<std::vector<Measurement>> profiled_ranks(const Graph& graph, const BenchmarkResult& result);

}  // namespace jointer
