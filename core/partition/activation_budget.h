#pragma once

// Chooses the values to save under torch's activation_memory_budget. The top of
// activation_budget.cpp describes the algorithm.

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
  std::vector<NodeId> saved;  // in torch's order, symbols included
  // The cut that saves them; nullopt if they were chosen without a cut.
  std::optional<CutSolution> cut;
  // The banned values that the knapsack saves, and those that it leaves to be recomputed. Both are
  // empty if no knapsack was solved.
  std::vector<NodeId> in_knapsack, left;
};

// Solves one graph under many budgets. Work that does not depend on the budget is done only once.
class ActivationBudget {
 public:
  // All arguments must outlive this object.
  ActivationBudget(const Graph& joint, const JointParts& parts, const MinCut& problem,
                   const PartitionOptions& options);

  // Ignores the budget and the watcher in PartitionOptions. Error (usage): `budget` is not in 0..1,
  // or MinCut::solve or BudgetKnapsack::solve fails. Error (cancelled): `watcher` reports that the
  // user has cancelled; it is also polled within each cut. Cost: at most one cut and one knapsack
  // per call; up to three more cuts and the table of the solver dp are computed once.
  Result<BudgetedCut> choose(double budget, const Watcher& watcher = {});

 private:
  struct Items {
    std::vector<NodeId> nodes;      // by bytes, largest first
    std::vector<NodeId> must_save;  // tagged, so the knapsack does not decide
    BudgetKnapsack knapsack;        // of `nodes`
  };

  Result<void> solve_cuts(const Watcher& watcher);
  [[nodiscard]] std::int64_t bytes(const std::vector<NodeId>& values) const;
  // The bytes of `values`, scaled so that 0 stands for the inputs alone and 1 for `whole_`.
  [[nodiscard]] double ratio(const std::vector<NodeId>& values) const;
  [[nodiscard]] Items find_items(const Bans& bans) const;
  // Adds the value or, if it is a tuple, those of its elements that are read.
  void add_elements(NodeId id, std::vector<NodeId>& saved) const;

  const Graph& joint_;
  const JointParts& parts_;
  const MinCut& problem_;
  const PartitionOptions& options_;
  std::optional<CutSolution> whole_, more_aggressive_, aggressive_;
  double min_gb_ = 0, span_gb_ = 0;  // in 1e9 bytes: the inputs; `whole_` minus the inputs
  Items items_;
};

// Overwrites the reasons for the values that the knapsack saved or left to be recomputed, where
// `plan` agrees and the backward needs the value. `reasons`: indexed by node id, from explain_plan.
void explain_budget(const Graph& joint, const BudgetedCut& chosen, const SavePlan& plan,
                    const PartitionOptions& options, std::vector<PlanReason>& reasons);

}  // namespace jointer
