#pragma once

// What is saved under torch's activation_memory_budget. How it is found is at the top of
// activation_budget.cpp.

#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/joint_parts.h"
#include "core/partition/knapsack.h"
#include "core/partition/min_cut.h"
#include "core/partition/partition.h"

namespace jointer {

struct BudgetedCut {
  std::vector<NodeId> saved;       // in torch's order, symbols among them
  std::optional<CutSolution> cut;  // the one that saves them; none where only inputs are saved
  // What the knapsack decided about: values that may not be made again by themselves. Both empty
  // where a cut alone keeps within the budget.
  std::vector<NodeId> kept, left;
};

// The same graph under many budgets: what does not depend on the budget is done once.
class ActivationBudget {
 public:
  // All must outlive it.
  ActivationBudget(const Graph& joint, const JointParts& parts, const MinCut& problem,
                   const PartitionOptions& options);

  // Of PartitionOptions the budget is not read. Error (usage): the budget is not 0..1; as
  // MinCut::solve and solve_knapsack. Cost: a cut, and once three cuts and a knapsack's table.
  // Error (cancelled): as `watcher` says, which is asked within each cut.
  Result<BudgetedCut> choose(double budget, const Watcher& watcher = {});

 private:
  struct Items {
    std::vector<NodeId> nodes;      // by bytes, largest first
    std::vector<NodeId> must_save;  // tagged so: not to be decided about
    Knapsack knapsack;              // of `nodes`
  };

  Result<void> solve_cuts(const Watcher& watcher);
  [[nodiscard]] std::int64_t bytes(const std::vector<NodeId>& values) const;
  // Of the activations between saving inputs alone and saving what the cut saves.
  [[nodiscard]] double ratio(const std::vector<NodeId>& values) const;
  [[nodiscard]] Items find_items(const Bans& bans) const;
  // The value, or what is taken from it if it is a tuple.
  void add_elements(NodeId id, std::vector<NodeId>& saved) const;
  Result<KnapsackAnswer> decide(double budget);

  const Graph& joint_;
  const JointParts& parts_;
  const MinCut& problem_;
  const PartitionOptions& options_;
  std::optional<CutSolution> whole_, more_aggressive_, aggressive_;
  double least_gb_ = 0, span_gb_ = 0;  // 1e9 bytes: of the inputs; from there to `whole_`
  Items items_;
  std::optional<KnapsackTable> table_;  // of dp
};

// Of what the knapsack decided about, the reasons that say so: `reasons`, by node, are
// explain_plan's.
void explain_budget(const Graph& joint, const BudgetedCut& chosen, const SavePlan& plan,
                    const PartitionOptions& options, std::vector<PlanReason>& reasons);

}  // namespace jointer
