#pragma once

// The tables and messages of `jointer bench`.

#include <string>

#include "core/bench/result.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer::cli {

// Compares the measurements with the estimate and explains the differences. Lines end in a newline.
std::string bench_tables(const BenchmarkResult& result, const Graph& graph,
                         const Analysis& analysis);

// The breakdown of the peak, as a member of the JSON object: `"explained":{...}`.
std::string explained_member(const BenchmarkResult& result, const Graph& graph,
                             const Analysis& analysis);

// The progress of the slowest rank: "2 ranks, measure 3 of 10".
std::string progress_line(const std::vector<RankResult>& ranks);

}  // namespace jointer::cli
