#pragma once

// What `jointer bench` prints for people.

#include <string>

#include "core/bench/result.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer::cli {

// Estimate beside measurement, and what explains the difference. Lines that end in a newline.
std::string bench_tables(const BenchmarkResult& result, const Graph& graph,
                         const Analysis& analysis);

// What explains the peak, as a member of the JSON object: `"explained":{...}`.
std::string explained_member(const BenchmarkResult& result, const Graph& graph,
                             const Analysis& analysis);

// "2 ranks, measure 3 of 10": where the rank is that is furthest behind.
std::string progress_line(const std::vector<RankResult>& ranks);

}  // namespace jointer::cli
