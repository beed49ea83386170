#pragma once

// Searches for the best trade-offs between peak memory and step time, and for the best plan within
// a limit. The top of pareto.cpp describes the algorithm.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/partition/partition.h"
#include "core/partition/plan_frontier.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

struct ParetoPoint {
  double budget = 1;  // torch's activation budget; -1 if the plan was not found for one
  std::string name;   // of a preset or of a plan that the user has kept
  SavePlan plan;
  PlanFigures figures;
  // The partitioner whose pair has these estimates; nullopt for a captured pair in a different
  // order.
  std::optional<Partitioner> partitioner = Partitioner::min_cut;
  // A lower bound on the step time of all plans that the request allows and whose peak is at most
  // this one (plan_relaxation.cpp); 0 if not computed.
  std::int64_t bound_ns = 0;
  // The bytes that torch's caching allocator reserves; nullopt if not computed.
  std::optional<std::int64_t> reserved_bytes = {};
  // The passes that reorder the plan's graph, as a pipeline; `figures` and `reserved_bytes` include
  // their effect. Empty if the plan keeps its own order.
  std::string order = {};

  // True for a plan that has no name and was not found for a budget.
  [[nodiscard]] bool is_searched() const { return budget < 0 && name.empty(); }
};

inline const Figures& figures_of(const ParetoPoint& point) {
  return point.figures.figures;
}

// The memory that a limit counts: live bytes, or bytes that the caching allocator reserves.
enum class LimitedMemory : std::uint8_t { allocated, reserved };
std::string_view to_string(LimitedMemory memory);
// The bytes that a limit of `memory` counts; nullopt if they have not been computed.
std::optional<std::int64_t> bytes_of(const ParetoPoint& point, LimitedMemory memory);

struct ParetoRequest {
  // Options for min_cut; the budget is ignored. Cancelling ends the search with the points found so
  // far. The watcher is called on any thread, but never concurrently.
  PartitionOptions partition;
  // Presets and plans that the user has kept. The search computes their estimates, except for pairs
  // of other partitioners or in a different order, whose estimates must be given. If `offload` is
  // false, only plans that offload on demand are used.
  std::vector<ParetoPoint> given;
  // Maximum number of budgets to try, but budgets 1 and 0 are always tried; fewer if the remaining
  // gaps are too narrow, or have equal estimates or no legal plan at both ends.
  std::size_t max_budgets = 64;
  // The user's policies, indexed by node id, which every plan of the search respects; may be empty.
  std::vector<MemoryPolicy> policies;
  bool offload = true;                              // values may be offloaded to the host
  LimitedMemory memory = LimitedMemory::allocated;  // the memory that limits and peaks count
  std::size_t effort = PlanFrontier::kEffort;       // plans to evaluate for each limit
  bool exhaustive = true;                           // see PlanFrontier::Options
  // Called with each given point, each point of a budget and the result of each search, as soon as
  // it is known. Return false to end the search with the points found so far.
  std::function<bool(const ParetoPoint&)> found;
};

// False if the plan offloads a value although neither its tag nor its policy demands that.
// `policies`: the user's, indexed by node id; may be empty.
bool offloads_only_on_demand(const SavePlan& plan, const Graph& joint,
                             std::span<const MemoryPolicy> policies);

struct ParetoCurve {
  std::vector<ParetoPoint> points;
  // Points of torch's budgets that no other budget beats, by ascending peak. Most are above the
  // curve.
  std::vector<ParetoPoint> budgets;
};

// The best plans found, from the lowest peak to the shortest step: by ascending peak and descending
// step time. `joint`: the graph of `what_if` (Partition::joint), possibly with other tags.
// Deterministic. Error (usage): same as partition or, for a flat training step, StepBudget::make,
// unless only some budgets have no legal plan; the graph has no backward; or a given plan is not
// legal. Error (cancelled): the search was cancelled before any point was found.
Result<ParetoCurve> pareto(const Graph& joint, const PlanWhatIf& what_if,
                           const ParetoRequest& request);

struct Fit {
  ParetoPoint point;  // the best one that fits or, if none fits, the nearest
  bool fits = false;
  // For a limit on the peak: a lower bound on the step time of all plans within it that the request
  // allows. 0 for other limits, and if `fits` is false.
  std::int64_t bound_ns = 0;
  // For a limit on the peak: the best plans found on the way, by ascending peak. Empty for other
  // limits, and if `fits` is false.
  std::vector<ParetoPoint> found = {};
};

// The fastest plan found whose peak, in the memory that the request limits, is at most
// `peak_bytes`. The point includes the reserved bytes if the plan is min_cut's. Errors: same as
// pareto.
Result<Fit> fastest_within(const Graph& joint, const PlanWhatIf& what_if, std::int64_t peak_bytes,
                           const ParetoRequest& request);

// The plan with the lowest peak found, in the memory that the request limits, among those whose
// step takes at most `step_ns`. Otherwise like fastest_within.
Result<Fit> smallest_within(const Graph& joint, const PlanWhatIf& what_if, std::int64_t step_ns,
                            const ParetoRequest& request);

}  // namespace jointer
