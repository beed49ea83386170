#include "views/session/sac/budget_trial.h"

#include <utility>
#include <vector>

#include "core/partition/cut_preparation.h"
#include "core/pass/pipeline_run.h"
#include "core/policy/apply_step_tags.h"
#include "passes/built_in.h"
#include "passes/tune/find_order.h"

namespace jointer::views {

Result<std::unique_ptr<BudgetTrial>> BudgetTrial::make(SnapshotPtr snapshot,
                                                       const std::vector<MemoryPolicy>& policies,
                                                       const SolveSettings& settings) {
  std::unique_ptr<BudgetTrial> trial(new BudgetTrial(std::move(snapshot)));
  Graph graph = trial->snapshot_->graph;
  for (std::size_t i = 0; i < policies.size(); ++i) graph.node(NodeId(i)).policy = policies[i];
  if (trial->is_step()) {
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
      graph, analysis.costs_of_operators(), analysis.flops, analysis.options.memory,
      analysis.options.simulation,
      PlanWhatIfOptions{.transfers = analysis.transfers, .partitioner = Partitioner::min_cut});
}

Result<PlanOutcomePtr> BudgetTrial::at(double budget) {
  JOINTER_TRY(const SavePlan found, plan(budget));
  return outcome(found);
}

Result<PlanOutcomePtr> BudgetTrial::outcome(const SavePlan& plan) const {
  JOINTER_TRY(PlanWhatIf::Outcome outcome, what_if_->evaluate(plan));
  return std::make_shared<const PlanOutcome>(place(std::move(outcome), snapshot_->analysis.memory));
}

// The node of the snapshot's graph from which a node of a plan's graph comes; none for a node that
// the partitioner or a pass added. A pair keeps names, and a flat training step keeps ids.
NodeId BudgetTrial::original(const Graph& made, NodeId id) const {
  const Graph& graph = snapshot_->graph;
  if (!id) return {};
  if (is_step()) return id.index() < graph.node_count() ? id : NodeId{};
  return graph.find(PartId(0), made.name(id));
}

Result<PlanOutcomePtr> BudgetTrial::ordered(const SavePlan& plan, const std::string& passes) const {
  const AnalysisOptions& options = snapshot_->analysis.options;
  JOINTER_TRY(const Graph own,
              is_step() ? step_of_plan(step_, plan) : emit_pair(plans_->joint(), plan));
  JOINTER_TRY(const Graph graph, in_order(own, passes, built_in_passes(), options));
  auto outcome = std::make_shared<PlanOutcome>();
  JOINTER_TRY(outcome->figures, what_if_->figures(plan));
  JOINTER_TRY(const StepFigures after, step_figures(graph, options));
  outcome->figures.figures = after.figures;
  outcome->figures.compute_ns = after.compute_ns;
  const MemoryTimeline memory(graph, options.memory);
  outcome->profile.assign(memory.profile().begin(), memory.profile().end());
  std::vector<NodeId> steps;
  for (const NodeId id : memory.steps()) steps.push_back(original(graph, id));
  outcome->places = place_steps(snapshot_->analysis.memory, steps);
  return PlanOutcomePtr(std::move(outcome));
}

}  // namespace jointer::views
