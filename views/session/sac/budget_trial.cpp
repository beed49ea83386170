#include "views/session/sac/budget_trial.h"

#include <utility>
#include <vector>

#include "core/partition/cut_preparation.h"
#include "views/session/sac/sac_state.h"

namespace jointer::views {

Result<std::unique_ptr<BudgetTrial>> BudgetTrial::make(SnapshotPtr snapshot,
                                                       const std::vector<MemoryPolicy>& policies,
                                                       const SolveSettings& settings) {
  std::unique_ptr<BudgetTrial> trial(new BudgetTrial(std::move(snapshot)));
  Graph graph = trial->snapshot_->graph;
  for (std::size_t i = 0; i < policies.size(); ++i) graph.node(NodeId(i)).policy = policies[i];
  if (sac_kind(graph) == SacKind::step) {
    if (settings.ignore_tags) drop_tags(graph);
    trial->step_ = std::move(graph);
    trial->make_what_if(trial->step_);
    JOINTER_TRY(trial->plans_,
                BudgetPlans::of_step(trial->step_, *trial->what_if_, options_of(settings)));
    return trial;
  }
  JOINTER_TRY(trial->plans_, BudgetPlans::make(std::move(graph), options_of(settings)));
  trial->make_what_if(trial->plans_->joint());
  return trial;
}

void BudgetTrial::make_what_if(const Graph& graph) {
  const Analysis& analysis = snapshot_->analysis;
  what_if_ = std::make_unique<PlanWhatIf>(
      graph, analysis.costs, analysis.flops, analysis.options.memory, analysis.options.simulation,
      PlanWhatIfOptions{.transfers = analysis.transfers, .partitioner = Partitioner::min_cut});
}

Result<SavePlan> BudgetTrial::plan(double budget) {
  return plans_->plan(budget);
}

Result<PlanOutcomePtr> BudgetTrial::at(double budget) {
  JOINTER_TRY(const SavePlan found, plan(budget));
  return outcome(found);
}

Result<PlanOutcomePtr> BudgetTrial::outcome(const SavePlan& plan) const {
  JOINTER_TRY(PlanWhatIf::Outcome outcome, what_if_->evaluate(plan));
  return std::make_shared<const PlanOutcome>(place(std::move(outcome), snapshot_->analysis.memory));
}

}  // namespace jointer::views
