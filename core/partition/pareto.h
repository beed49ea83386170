#pragma once

// Peak memory against step time over budgets, and the plan that fits a limit. How is described at
// the top of pareto.cpp.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/partition/partition.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

struct ParetoPoint {
  double budget = 1;  // torch's activation budget; of other points -1
  std::string name;   // of a preset or a person's snapshot
  SavePlan plan;
  PlanFigures figures;
};

struct ParetoRequest {
  PartitionOptions partition;
  // Called between points; false ends the search with what there is.
  std::function<bool(const ParetoPoint&)> found;
};

// The points that no other is better than in both, by growing peak: step time then never grows.
Result<std::vector<ParetoPoint>> pareto(const Graph& joint, const PlanWhatIf& what_if,
                                        const ParetoRequest& request);

struct Fit {
  ParetoPoint point;  // the best that fits; where none does, the one that comes nearest
  bool fits = false;
};

// The fastest plan whose peak is at most `peak_bytes`.
Result<Fit> fastest_within(const Graph& joint, const PlanWhatIf& what_if, std::int64_t peak_bytes,
                           const ParetoRequest& request);

// The plan of the least peak whose step takes at most `step_ns`.
Result<Fit> smallest_within(const Graph& joint, const PlanWhatIf& what_if, std::int64_t step_ns,
                            const ParetoRequest& request);

}  // namespace jointer
