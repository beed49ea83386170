#pragma once

// Estimates of a graph to which a plan has already been applied: a pair, or a flat training step.

#include <span>

#include "core/cost/estimator.h"
#include "core/graph/graph.h"
#include "core/partition/plan_what_if.h"
#include "core/schedule/memory_timeline.h"

namespace jointer {

// `costs`: one per node, by id. `decided`: the graph's partitioned_values.
PlanFigures captured_figures(const Graph& graph, std::span<const NodeCost> costs,
                             std::span<const SaveCandidate> decided, const MemoryOptions& memory);

}  // namespace jointer
