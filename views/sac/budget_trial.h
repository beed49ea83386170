#pragma once

// One graph cut under many activation budgets, for a person who looks for the right one: what does
// not depend on the budget is done once. No Qt.

#include <map>
#include <memory>

#include "core/partition/activation_budget.h"
#include "views/document/snapshot.h"
#include "views/sac/plan_outcome.h"
#include "views/sac/solve_settings.h"

namespace jointer::views {

class BudgetTrial {
 public:
  // Budgets that are looked at are thousandths.
  static constexpr int kParts = 1000;

  // The snapshot's graph under other policies, by node. Of the settings, which are min_cut's, the
  // budget is not read. Error (usage): as partition.
  static Result<std::unique_ptr<BudgetTrial>> make(SnapshotPtr snapshot,
                                                   const std::vector<MemoryPolicy>& policies,
                                                   const SolveSettings& settings);

  // What solving with that budget comes to. Error (usage): it has no legal plan. Cost: a cut or a
  // knapsack, and the figures of a plan.
  Result<PlanOutcomePtr> at(double budget);

  struct Fit {
    double budget = 0;
    bool fits = false;  // else nothing that was tried does, and this one has the least peak
  };
  // The largest budget that is found whose peak fits. Error (usage): no budget has a legal plan.
  // Cost: up to 27 cuts, less where the peaks of some budgets are known.
  Result<Fit> within(std::int64_t peak_bytes);

 private:
  BudgetTrial(SnapshotPtr snapshot, const SolveSettings& settings)
      : snapshot_(std::move(snapshot)), options_(options_of(settings)), joint_(snapshot_->graph) {}
  Result<SavePlan> plan(double budget);
  Result<std::int64_t> peak(int part);

  SnapshotPtr snapshot_;
  PartitionOptions options_;
  Graph joint_;
  JointParts parts_;
  std::unique_ptr<MinCut> problem_;
  std::unique_ptr<ActivationBudget> budgets_;
  std::unique_ptr<PlanWhatIf> what_if_;
  std::map<int, std::int64_t> peaks_;  // by part
};

}  // namespace jointer::views
