#pragma once

// The plan of a flat training step's tags, from which searches start.

#include <string>

#include "core/base/result.h"
#include "core/cost/estimator.h"
#include "core/graph/graph.h"
#include "core/partition/pareto.h"
#include "core/schedule/memory_timeline.h"

namespace jointer {

// Returns the values that the step saves with its tags applied, as a plan for `tagged`, with the
// estimates of the step with its tags applied: the current plan of a search on `tagged`
// (TradeOffOptions::now). Error (usage): same as apply_step_tags and partitioned_values.
Result<ParetoPoint> point_of_step(const Graph& tagged, std::string name, const Estimator& estimator,
                                  const MemoryOptions& memory);

}  // namespace jointer
