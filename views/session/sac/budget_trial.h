#pragma once

// Plans of one graph (a joint graph or a flat training step) under different activation budgets,
// and their outcomes. Work that does not depend on the budget is done only once. No Qt.

#include <memory>

#include "core/partition/budget_plans.h"
#include "views/session/sac/plan_outcome.h"
#include "views/session/sac/solve_settings.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

class BudgetTrial {
 public:
  // Uses the snapshot's graph with the given policies, indexed by node. The partitioner in
  // `settings` must be min_cut; the budget in `settings` is ignored. Error (usage): see
  // `partition`.
  static Result<std::unique_ptr<BudgetTrial>> make(SnapshotPtr snapshot,
                                                   const std::vector<MemoryPolicy>& policies,
                                                   const SolveSettings& settings);

  // The outcome of solving with `budget`. Error (usage): the budget has no legal plan. Cost: one
  // cut or knapsack, and the estimates of one plan.
  Result<PlanOutcomePtr> at(double budget);
  Result<SavePlan> plan(double budget);
  // The outcome of any plan for min_cut's pair or for the step. Error (usage): see `emit_pair`.
  [[nodiscard]] Result<PlanOutcomePtr> outcome(const SavePlan& plan) const;

 private:
  explicit BudgetTrial(SnapshotPtr snapshot) : snapshot_(std::move(snapshot)) {}
  void make_what_if(const Graph& graph);

  SnapshotPtr snapshot_;
  Graph step_;                           // a flat training step; empty for a joint graph
  std::unique_ptr<PlanWhatIf> what_if_;  // for `step_`, or for the graph of `plans_`
  std::unique_ptr<BudgetPlans> plans_;
};

}  // namespace jointer::views
