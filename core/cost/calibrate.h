#pragma once

// From what was measured of a graph to the cost database.

#include "core/bench/measurement.h"
#include "core/cost/cost_database.h"

namespace jointer {

// Each node's own time under its key; of several nodes with one key the median, so that a run
// counts once. Left out: waits, whose time is the collective's; collectives of a measurement that
// was made alone; views on anything but a CPU, which launch nothing; times below zero, and nodes
// that the graph does not have. `ranks_per_machine` says over how many machines a group was spread.
CostSamples cost_samples(const Graph& graph, const Measurement& measurement,
                         std::int64_t ranks_per_machine = 8);

// Puts them into the database, made where it is not there: JOINTER_COSTS or its default place. The
// samples come back, for telling a person what was kept. Error: as CostDatabase.
Result<CostSamples> store(const Graph& graph, const Measurement& measurement);

}  // namespace jointer
