#pragma once

#include <cstdint>
#include <string>

#include "core/bench/measurement.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer {

// The rates that a call reached in the measured time `ns`, as text in the form of rates_text
// (core/cost/achieved_rates.h). The shares of the peaks are known only if the measurement is from
// the GPU that `analysis` assumes. Empty if no rate applies. The collectives of a rank that ran
// alone have none, since local copies replaced them.
std::string reached_rates(const Graph& graph, const Analysis& analysis,
                          const Measurement& measurement, NodeId call, std::int64_t ns);

}  // namespace jointer
