#pragma once

// Trades peak memory against step time over activation budgets, and finds the plan that fits a
// limit. The top of pareto.cpp describes the algorithm.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/partition/partition.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

struct ParetoPoint {
  double budget = 1;  // torch's activation budget; -1 for other points
  std::string name;   // of a preset or of a plan that the user has kept
  SavePlan plan;
  PlanFigures figures;
  // The partitioner that emits the pair with these figures.
  Partitioner partitioner = Partitioner::min_cut;
};

struct ParetoRequest {
  // Options of min_cut; the budget is ignored. Cancelling ends the search with the points found so
  // far.
  PartitionOptions partition;
  // Presets and plans that the user has kept. Their figures are computed here, except for pairs of
  // another partitioner, which bring their own.
  std::vector<ParetoPoint> given;
  // Maximum number of budgets to try while gaps between points are still wide.
  std::size_t max_budgets = 64;
  // Called with each point when it is found. Returning false ends the search with the points found
  // so far.
  std::function<bool(const ParetoPoint&)> found;
};

// The points that no other point beats in both figures, by ascending peak, so that step time never
// increases. `joint`: the graph of `what_if` (Partition::joint), possibly with other tags.
// Deterministic. Error (usage): as partition, unless only some budgets have no legal plan. Error
// (cancelled): cancelled before there was a point.
Result<std::vector<ParetoPoint>> pareto(const Graph& joint, const PlanWhatIf& what_if,
                                        const ParetoRequest& request);

struct Fit {
  ParetoPoint point;  // the best that fits; if none does, the nearest
  bool fits = false;
};

// The fastest plan found with a peak of at most `peak_bytes`: a budget's plan, improved tensor by
// tensor. By the figures of `what_if`, a plan that fits never exceeds the limit.
Result<Fit> fastest_within(const Graph& joint, const PlanWhatIf& what_if, std::int64_t peak_bytes,
                           const ParetoRequest& request);

// The plan with the lowest peak found among those whose step takes at most `step_ns`, by the same
// search.
Result<Fit> smallest_within(const Graph& joint, const PlanWhatIf& what_if, std::int64_t step_ns,
                            const ParetoRequest& request);

}  // namespace jointer
