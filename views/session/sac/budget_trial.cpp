#include "views/session/sac/budget_trial.h"

#include <utility>
#include <vector>

namespace jointer::views {

Result<std::unique_ptr<BudgetTrial>> BudgetTrial::make(SnapshotPtr snapshot,
                                                       const std::vector<MemoryPolicy>& policies,
                                                       const SolveSettings& settings) {
  Graph graph = snapshot->graph;
  for (std::size_t i = 0; i < policies.size(); ++i) graph.node(NodeId(i)).policy = policies[i];
  JOINTER_TRY(auto plans, BudgetPlans::make(std::move(graph), options_of(settings)));
  std::unique_ptr<BudgetTrial> trial(new BudgetTrial(std::move(snapshot), std::move(plans)));
  const Analysis& analysis = trial->snapshot_->analysis;
  trial->what_if_ = std::make_unique<PlanWhatIf>(
      trial->plans_->joint(), analysis.costs, analysis.flops, analysis.options.memory,
      analysis.options.simulation,
      PlanWhatIfOptions{.transfers = analysis.transfers, .partitioner = Partitioner::min_cut});
  return trial;
}

Result<PlanOutcomePtr> BudgetTrial::at(double budget) {
  JOINTER_TRY(const SavePlan found, plans_->plan(budget));
  JOINTER_TRY(PlanWhatIf::Outcome outcome, what_if_->evaluate(found));
  return std::make_shared<const PlanOutcome>(place(std::move(outcome), snapshot_->analysis.memory));
}

Result<BudgetTrial::Fit> BudgetTrial::within(std::int64_t peak_bytes) {
  return plans_->within(*what_if_, peak_bytes);
}

}  // namespace jointer::views
