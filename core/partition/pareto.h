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
  // Whose pair has these figures.
  Partitioner partitioner = Partitioner::min_cut;
};

struct ParetoRequest {
  // Of min_cut; its budget is not read. Who cancels it ends the search with what there is.
  PartitionOptions partition;
  // Presets and a person's snapshots: their figures are computed here, but for those of another
  // partitioner's pair, which come with them.
  std::vector<ParetoPoint> given;
  // How many budgets are tried at most, where steps between points are still wide.
  std::size_t most_budgets = 64;
  // Called for each point as it is found; false ends the search with what there is.
  std::function<bool(const ParetoPoint&)> found;
};

// The points that no other is better than in both, by growing peak: step time then never grows.
// `joint`: what `what_if` was made of, as Partition::joint; its tags may be others. The same
// request gives the same points. Error (usage): as partition; none where only some budgets have no
// legal plan. Error (cancelled): it was cancelled before there was a point.
Result<std::vector<ParetoPoint>> pareto(const Graph& joint, const PlanWhatIf& what_if,
                                        const ParetoRequest& request);

struct Fit {
  ParetoPoint point;  // the best that fits; where none does, the one that comes nearest
  bool fits = false;
};

// The fastest plan that is found whose peak is at most `peak_bytes`: what a budget gives, improved
// tensor by tensor. What fits never exceeds the limit by the figures of `what_if`.
Result<Fit> fastest_within(const Graph& joint, const PlanWhatIf& what_if, std::int64_t peak_bytes,
                           const ParetoRequest& request);

// The plan of the least peak that is found whose step takes at most `step_ns`, in the same way.
Result<Fit> smallest_within(const Graph& joint, const PlanWhatIf& what_if, std::int64_t step_ns,
                            const ParetoRequest& request);

}  // namespace jointer
