#pragma once

// Plans of one graph (a joint graph or a flat training step) under different activation budgets,
// and their outcomes. Work that does not depend on the budget is done only once. Does not use Qt.

#include <memory>
#include <string>

#include "core/partition/budget_plans.h"
#include "views/session/sac/plan_outcome.h"
#include "views/session/sac/sac_state.h"
#include "views/session/sac/solve_settings.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

class BudgetTrial {
 public:
  // Uses the snapshot's graph with the given policies, indexed by node. The partitioner in
  // `settings` must be min_cut; the budget in `settings` is ignored. Error (usage): see
  // BudgetPlans::make and BudgetPlans::of_step.
  static Result<std::unique_ptr<BudgetTrial>> make(SnapshotPtr snapshot,
                                                   const std::vector<MemoryPolicy>& policies,
                                                   const SolveSettings& settings);

  // The outcome of solving with `budget`. Error (usage): `budget` is not in 0..1, or has no legal
  // plan. Cost: one cut or knapsack, and the estimates of one plan.
  Result<PlanOutcomePtr> at(double budget);
  Result<SavePlan> plan(double budget) { return plans_->plan(budget); }
  // The outcome of any plan: that of the pair that min_cut makes with it, or of the flat training
  // step. Error (usage): see `emit_pair`.
  [[nodiscard]] Result<PlanOutcomePtr> outcome(const SavePlan& plan) const;
  // The outcome of a plan after passes that reorder its graph (PlanOrder::passes). Unlike the other
  // functions, may run on another thread at the same time as any of them. Error (usage): see
  // `emit_pair` and `step_of_plan`; (run): a pass failed. Cost: that of the passes.
  [[nodiscard]] Result<PlanOutcomePtr> ordered(const SavePlan& plan,
                                               const std::string& passes) const;

 private:
  explicit BudgetTrial(SnapshotPtr snapshot) : snapshot_(std::move(snapshot)) {}
  [[nodiscard]] bool is_step() const { return sac_kind(snapshot_->graph) == SacKind::step; }
  [[nodiscard]] NodeId original(const Graph& made, NodeId id) const;
  void make_what_if(const Graph& graph);

  SnapshotPtr snapshot_;
  Graph step_;                           // a flat training step; empty for a joint graph
  std::unique_ptr<PlanWhatIf> what_if_;  // for `step_`, or for the graph of `plans_`
  std::unique_ptr<BudgetPlans> plans_;
};

}  // namespace jointer::views
