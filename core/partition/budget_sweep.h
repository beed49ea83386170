#pragma once

// Solves plans under many activation budgets, with their figures. The Pareto curve and the searches
// for a limit are built from them.

#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/partition/activation_budget.h"
#include "core/partition/pareto.h"

namespace jointer {

// Points by budget, each once. The top of budget_sweep.cpp describes how budgets are chosen.
class BudgetSweep {
 public:
  // `what_if` and `request` must outlive this. Error (usage): as partition.
  static Result<std::unique_ptr<BudgetSweep>> make(const Graph& joint, const PlanWhatIf& what_if,
                                                   const ParetoRequest& request);

  // Solves budgets 0 and 1, then budgets between the points that are furthest apart. Error (usage):
  // no budget has a legal plan; the message is the last budget's.
  Result<void> run();
  // In the order in which they were found: the given points, then the budgets.
  [[nodiscard]] const std::vector<ParetoPoint>& points() const { return points_; }
  [[nodiscard]] bool is_cancelled() const { return cancelled_; }

 private:
  struct Gap;
  BudgetSweep(const Graph& joint, const PlanWhatIf& what_if, const ParetoRequest& request);

  Result<void> add_given();
  // Returns the index of the budget's point. Error (usage): it has no legal plan.
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

// The points that no other point beats in both figures, by ascending peak; among equal points, the
// first.
std::vector<ParetoPoint> pareto_front(std::vector<ParetoPoint> points);

}  // namespace jointer
