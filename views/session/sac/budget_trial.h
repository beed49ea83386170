#pragma once

// Partitions one graph under many activation budgets, or finds the plans of a flat training step. Work that does not depend on the budget is
// done only once. No Qt.

#include <map>
#include <memory>
#include <optional>

#include "core/partition/activation_budget.h"
#include "core/partition/step_budget.h"
#include "views/session/sac/plan_outcome.h"
#include "views/session/sac/solve_settings.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

class BudgetTrial {
 public:
  // Budgets are tried in multiples of 1/1000.
  static constexpr int kParts = 1000;

  // Uses the snapshot's graph with the given policies, indexed by node. The partitioner in the
  // settings must be min_cut; their budget is ignored. Error (usage): see `partition`.
  static Result<std::unique_ptr<BudgetTrial>> make(SnapshotPtr snapshot,
                                                   const std::vector<MemoryPolicy>& policies,
                                                   const SolveSettings& settings);

  // The outcome of solving with `budget`. Error (usage): the budget has no legal plan. Cost: one
  // cut or knapsack, and the figures of one plan.
  Result<PlanOutcomePtr> at(double budget);
  Result<SavePlan> plan(double budget);

  struct Fit {
    double budget = 0;
    bool fits = false;  // false: none of the budgets tried fits, and this one has the minimum peak
  };
  // The largest budget found whose peak fits. Error (usage): no budget has a legal plan. Cost: at
  // most 27 cuts, fewer if some peaks are already known.
  Result<Fit> within(std::int64_t peak_bytes);

 private:
  BudgetTrial(SnapshotPtr snapshot, const SolveSettings& settings)
      : snapshot_(std::move(snapshot)), options_(options_of(settings)), joint_(snapshot_->graph) {}
  void make_what_if();
  Result<std::int64_t> peak(int part);

  SnapshotPtr snapshot_;
  PartitionOptions options_;
  Graph joint_;
  JointParts parts_;
  std::unique_ptr<MinCut> problem_;
  std::unique_ptr<ActivationBudget> budgets_;
  std::unique_ptr<PlanWhatIf> what_if_;
  std::optional<StepBudget> step_budgets_;  // of a flat training step
  std::map<int, std::int64_t> peaks_;       // by part
};

}  // namespace jointer::views
