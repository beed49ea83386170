#pragma once

// The graph that `jointer calibrate --probe` runs, and the rates that follow from the times of its
// calls.

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/bench/measurement.h"
#include "core/cost/cpu_probe.h"
#include "core/graph/graph.h"

namespace jointer {

// The graph as a literal, with collectives of two ranks if `has_collectives`. `last_cache`: the
// size of the largest cache in bytes, which determines the size of the largest addition; 0 if it is
// not known.
std::string cpu_probe_text(bool has_collectives, std::int64_t last_cache);

// `graph`: parsed from cpu_probe_text. `measured`: a run of it, with the times of its calls, in
// which each rank had `threads` threads. Error (run): the graph has no additions, or a call has no
// time.
Result<ProbedRank> probed_rank(const Graph& graph, const Measurement& measured, int threads);

}  // namespace jointer
