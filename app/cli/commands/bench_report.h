#pragma once

// The tables and messages of `jointer bench`.

#include <string>

#include "app/cli/commands/options.h"
#include "core/bench/result.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer::cli {

// Tables that compare the measurements with the estimate and explain how the highest peak differs
// from it; after a profile, also the slowest calls and the longest waits; then failures and notes.
// Every line ends in a newline.
std::string bench_tables(const BenchmarkResult& result, const Graph& graph,
                         const Analysis& analysis);

// How the highest measured peak differs from the estimate; null if no rank was measured.
Json explained_json(const BenchmarkResult& result, const Graph& graph, const Analysis& analysis);

// The number of ranks, and the progress of the running rank that is furthest behind: "2 ranks,
// measure 3 of 10".
std::string progress_line(const std::vector<RankResult>& ranks);

}  // namespace jointer::cli
