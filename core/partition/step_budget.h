#pragma once

// Plans of a flat training step under torch's activation budgets, from 0 to 1. No partitioner
// splits a flat training step, so upstream has no budgets for it; step_budget.cpp defines what they
// mean here.

#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/knapsack.h"
#include "core/partition/partition.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

class StepBudget {
 public:
  // `step`: the graph of `what_if`, which must outlive this object. The tags MUST_SAVE,
  // MUST_RECOMPUTE, PREFER_RECOMPUTE and MUST_CPU_OFFLOAD are respected. Error (usage): no plan is
  // legal.
  static Result<StepBudget> make(const Graph& step, const PlanWhatIf& what_if,
                                 const PartitionOptions& options);

  // Error (usage): `budget` is not in 0..1, the knapsack cannot be solved, or the plan is not
  // legal.
  [[nodiscard]] Result<SavePlan> plan(double budget);

 private:
  StepBudget(const PlanWhatIf& what_if, BudgetKnapsack knapsack)
      : what_if_(&what_if), knapsack_(std::move(knapsack)) {}

  const PlanWhatIf* what_if_;
  std::vector<NodeId> always_, offloaded_;  // tagged to be saved; those of them to offload
  std::vector<std::vector<NodeId>> items_;  // the values of each item, which share a storage
  BudgetKnapsack knapsack_;
};

}  // namespace jointer
