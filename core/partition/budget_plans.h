#pragma once

// Solves one graph under many activation budgets. Work that does not depend on the budget is done
// only once.

#include <map>
#include <memory>
#include <optional>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/activation_budget.h"
#include "core/partition/joint_parts.h"
#include "core/partition/min_cut.h"
#include "core/partition/partition.h"
#include "core/partition/plan_what_if.h"
#include "core/partition/step_budget.h"

namespace jointer {

class BudgetPlans {
 public:
  // `within` tries budgets that are multiples of 1/kParts.
  static constexpr int kParts = 1000;

  // The plans respect the tags of `joint`, unless `options` ignores tags. `options`: same as for
  // min_cut; the partitioner, the budget and the watcher's report are ignored. Error (usage): same
  // as check_functional and find_joint_parts, or the graph has no backward.
  static Result<std::unique_ptr<BudgetPlans>> make(Graph joint, PartitionOptions options);
  // The same for a flat training step, the graph of `what_if`, with the tags of `step`. `what_if`
  // must outlive this object. Error (usage): same as StepBudget::make.
  static Result<std::unique_ptr<BudgetPlans>> of_step(Graph step, const PlanWhatIf& what_if,
                                                      PartitionOptions options);
  BudgetPlans(const BudgetPlans&) = delete;
  BudgetPlans& operator=(const BudgetPlans&) = delete;

  // The joint graph as min_cut prepares it (prepare_for_cut). Empty for a flat training step.
  [[nodiscard]] const Graph& joint() const { return joint_; }
  // The plan for a budget. Error (usage): `budget` is not in 0..1 or has no legal plan, or the
  // knapsack cannot be solved. Error (cancelled): the watcher in the options reports that the user
  // has cancelled. Cost: same as ActivationBudget::choose or, for a flat training step, a knapsack;
  // and a walk over the graph.
  Result<SavePlan> plan(double budget);

  struct Fit {
    double budget = 0;
    bool fits = false;  // if false, no budget tried fits, and `budget` has the lowest peak of these
  };
  // The largest budget found whose plan has a peak of at most `peak_bytes`. `what_if` describes
  // `joint()` or a graph with the same calls; for a flat training step, it is that of `of_step`.
  // Pass the same object each time. Error (usage): none of the budgets tried has a legal plan.
  // Error (cancelled): same as `plan`. Cost: at most 27 plans and their estimates, fewer if some
  // peaks are already known.
  Result<Fit> within(const PlanWhatIf& what_if, std::int64_t peak_bytes);

 private:
  BudgetPlans(Graph joint, PartitionOptions options)
      : options_(std::move(options)), joint_(std::move(joint)) {}
  Result<std::int64_t> peak(const PlanWhatIf& what_if, int part);

  PartitionOptions options_;
  Graph joint_;
  JointParts parts_;
  std::unique_ptr<MinCut> problem_;
  std::unique_ptr<ActivationBudget> budgets_;
  std::optional<StepBudget> step_;     // used instead for a flat training step
  std::map<int, std::int64_t> peaks_;  // by budget, in 1/kParts
};

}  // namespace jointer
