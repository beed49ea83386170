#pragma once

// Plans under many activation budgets, with figures: what the Pareto curve and the solvers of
// limits are made from.

#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/partition/activation_budget.h"
#include "core/partition/pareto.h"

namespace jointer {

// Points by budget, each once. How budgets are chosen is at the top of budget_sweep.cpp.
class BudgetSweep {
 public:
  // Both must outlive it. Error (usage): as partition.
  static Result<std::unique_ptr<BudgetSweep>> make(const Graph& joint, const PlanWhatIf& what_if,
                                                   const ParetoRequest& request);

  // Budgets 0 and 1, then those between which points are furthest apart. Error (usage): no budget
  // has a legal plan; the sentence says why of the last one.
  Result<void> run();
  // In the order in which they were found: given points, then budgets.
  [[nodiscard]] const std::vector<ParetoPoint>& points() const { return points_; }
  [[nodiscard]] bool is_cancelled() const { return cancelled_; }

 private:
  struct Gap;
  BudgetSweep(const Graph& joint, const PlanWhatIf& what_if, const ParetoRequest& request);

  Result<void> add_given();
  // Index of the budget's point. Error (usage): it has no legal plan.
  Result<std::size_t> try_budget(double budget);
  void tell(const ParetoPoint& point);

  Graph joint_;
  JointParts parts_;
  std::unique_ptr<MinCut> problem_;
  std::unique_ptr<ActivationBudget> budgets_;
  const PlanWhatIf& what_if_;
  const ParetoRequest& request_;
  std::vector<ParetoPoint> points_;
  bool cancelled_ = false;
};

// Those that no other is better than in both, by growing peak; of equal ones the first.
std::vector<ParetoPoint> pareto_front(std::vector<ParetoPoint> points);

}  // namespace jointer
