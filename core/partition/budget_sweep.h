#pragma once

// Solves plans under many activation budgets and computes their estimates. The Pareto curve and the
// searches within a limit build on these plans.

#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/partition/budget_plans.h"
#include "core/partition/pareto.h"

namespace jointer {

// Solves each budget once. The top of budget_sweep.cpp describes how budgets are chosen.
class BudgetSweep {
 public:
  // The arguments must outlive this object. Error (usage): the graph is neither a joint graph nor a
  // flat training step; or same as BudgetPlans::make or, for a flat training step,
  // BudgetPlans::of_step. Error (cancelled): the request's watcher reports that the user has
  // cancelled.
  static Result<std::unique_ptr<BudgetSweep>> make(const Graph& joint, const PlanWhatIf& what_if,
                                                   const ParetoRequest& request);

  // Adds the given points; if the request forbids offloading, only those that offload on demand.
  // Then solves budgets 1 and 0 and, until the request's max_budgets are reached, others between
  // the points that are furthest apart. If the user cancels, or the request's `found` returns
  // false, stops with the points found so far. Error (usage): a given plan is not legal; or no
  // point was found, because no budget has a legal plan (the message is that of the last budget).
  // Error (cancelled): the user cancelled before a point was found.
  Result<void> run();
  // The points in the order in which they were found: first given points, then those of the
  // budgets.
  [[nodiscard]] const std::vector<ParetoPoint>& points() const { return points_; }
  [[nodiscard]] bool is_cancelled() const { return cancelled_; }

  static constexpr double kSweepShare = 0.3;  // the whole search's progress when the sweep ends

 private:
  struct Gap;
  BudgetSweep(const Graph& joint, const PlanWhatIf& what_if, const ParetoRequest& request)
      : joint_(joint), what_if_(what_if), request_(request) {}

  Result<void> add_given();
  // Returns the index of the budget's point. Error (usage): the budget has no legal plan. Error
  // (cancelled): the request's watcher reports that the user has cancelled.
  Result<std::size_t> try_budget(double budget);
  void tell(const ParetoPoint& point);

  std::unique_ptr<BudgetPlans> plans_;
  const Graph& joint_;
  const PlanWhatIf& what_if_;
  const ParetoRequest& request_;
  std::vector<ParetoPoint> points_;
  bool cancelled_ = false;
};

// The points by ascending peak, without those for which another point has a peak and a step time
// that are equal or lower; of equal points, the first stays.
std::vector<ParetoPoint> pareto_front(std::vector<ParetoPoint> points);

}  // namespace jointer
