#pragma once

#include <string>

#include "core/bench/result.h"
#include "core/schedule/analysis.h"

namespace jointer::cli {

// A table of the calls with the longest time in isolation (NodeTime::own_ns) on the first rank that
// was profiled and ran `graph`: at most 10, the longest first, with this time, the estimate, and
// the rates that they reached. Waits, and collectives that local copies replaced, are left out.
// Empty if there are no such calls, as without a profile. `analysis` describes `graph`, which the
// first rank ran.
std::string slowest_calls(const BenchmarkResult& result, const Graph& graph,
                          const Analysis& analysis);

}  // namespace jointer::cli
