#pragma once

// Converts measurements of a graph into samples, and stores them in the cost database.

#include "core/bench/measurement.h"
#include "core/cost/cost_database.h"

namespace jointer {

// Returns the own time of each call under its key (work_key.h): the median if several calls share a
// key, so that a run counts once per key. Leaves out waits, whose time is the collective's;
// collectives measured without other ranks; views and getitem, unless the device is a CPU, since
// they launch nothing; calls whose own time is unknown; and nodes that the graph does not contain.
// `ranks_per_machine` determines how many machines a group spans.
CostSamples cost_samples(const Graph& graph, const Measurement& measurement,
                         std::int64_t ranks_per_machine = 8);

// Stores the samples in the cost database that JOINTER_COSTS names, or in the default one; creates
// the database if necessary. Returns the samples so that the caller can report them. Error (usage):
// the measurement does not name its device. Error (run): it is of a GPU whose kernels were not
// traced, so the times of small kernels are those of their launches. Other errors: same as
// CostDatabase.
Result<CostSamples> store(const Graph& graph, const Measurement& measurement);

}  // namespace jointer
