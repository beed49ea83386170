#pragma once

#include <string>

#include "core/bench/result.h"
#include "core/schedule/analysis.h"

namespace jointer::cli {

// A table of the calls that took longest in a profiled run, measured alone: their times, the
// estimates, and the rates that they reached. Empty without a profile. `analysis` describes
// `graph`, which ran.
std::string slowest_calls(const BenchmarkResult& result, const Graph& graph,
                          const Analysis& analysis);

}  // namespace jointer::cli
