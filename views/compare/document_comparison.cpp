#include "views/compare/document_comparison.h"

#include <utility>

#include "core/compiled/compiled_step.h"
#include "core/policy/apply_step_tags.h"
#include "views/session/sac/ordered_plan.h"
#include "views/session/sac/sac_solver.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

Result<SnapshotPtr> analyzed(Graph graph, const AnalysisOptions& options, const Cancellation& job) {
  return make_snapshot(std::move(graph), options, [&job] { return job.is_cancelled(); });
}

// Analyzes the state again if it was analyzed with different options, since its numbers would not
// be comparable.
Result<void> analyze_with(const AnalysisOptions& options, StateOfDocument& state,
                          const Cancellation& job) {
  if (same_options(state.snapshot->analysis.options, options)) return {};
  const bool is_baseline = state.baseline == state.snapshot;
  JOINTER_TRY(state.snapshot, analyzed(state.snapshot->graph, options, job));
  if (is_baseline) {
    state.baseline = state.snapshot;
    return {};
  }
  JOINTER_TRY(state.baseline, analyzed(state.baseline->graph, options, job));
  return {};
}

Result<SacStatePtr> plan_of(const StateOfDocument& state) {
  if (sac_kind(state.snapshot->graph) == SacKind::partitioned)
    return state_as_captured(state.snapshot);
  return SacSolver().state(
      {.now = state.snapshot, .baseline = state.baseline, .history = state.history});
}

QString name_of(Execution execution) {
  switch (execution) {
    case Execution::eager:
      return tr("eager");
    case Execution::regional:
      return tr("with compiled regions");
    case Execution::inductor:
      return tr("as Inductor runs it");
    case Execution::cudagraph:
      return tr("as a CUDA graph");
  }
  return {};
}

// Replaces a joint graph with the pair that its plan produces, in the plan's order.
Result<void> partition_state(StateOfDocument& state, const AnalysisOptions& options,
                             const Cancellation& job) {
  JOINTER_TRY(const SacStatePtr plan, plan_of(state));
  JOINTER_TRY(Graph pair, ordered_graph(views::plan_of(*plan)));
  JOINTER_TRY(state.snapshot, analyzed(std::move(pair), options, job));
  state.baseline = state.snapshot;
  state.history.clear();
  state.name = tr("%1, as partitioned").arg(state.name);
  return {};
}

// Applies the tags of a flat training step and, if its plan was found with an order, reorders it.
// Without an order, tags that cannot be applied are ignored, as in the estimates of the plan.
Result<void> apply_tags(StateOfDocument& state, const AnalysisOptions& options,
                        const Cancellation& job) {
  JOINTER_TRY(const SacStatePtr plan, plan_of(state));
  if (!plan->applied_tags.any && plan->order.empty()) return {};
  Graph step = state.snapshot->graph;
  if (!plan->order.empty()) {
    JOINTER_TRY(step, ordered_graph(views::plan_of(*plan)));
  } else {
    JOINTER_CHECK(apply_step_tags(step));
  }
  JOINTER_TRY(state.snapshot, analyzed(std::move(step), options, job));
  state.baseline = state.snapshot;
  state.history.clear();
  state.name = tr("%1, with its tags applied").arg(state.name);
  return {};
}

// The changes between the plans; null if the graphs have no comparable plans, or if the plans are
// the same.
PlanChangesPtr plan_changes(const StateOfDocument& from, const StateOfDocument& to) {
  if (sac_kind(from.snapshot->graph) != sac_kind(to.snapshot->graph)) return nullptr;
  const auto before = plan_of(from), after = plan_of(to);
  if (!before || !after) return nullptr;
  const auto changes = changes_in_order(**before, **after);
  return !changes || (*changes)->empty() ? nullptr : *changes;
}

}  // namespace

Result<StateOfDocument> as_run(StateOfDocument state, const AnalysisOptions& options,
                               const Cancellation& job) {
  JOINTER_CHECK(analyze_with(options, state, job));
  if (sac_kind(state.snapshot->graph) == SacKind::joint) {
    JOINTER_CHECK(partition_state(state, options, job));
  } else if (sac_kind(state.snapshot->graph) == SacKind::step) {
    JOINTER_CHECK(apply_tags(state, options, job));
  }
  return state;
}

Result<StateOfDocument> executed_as(StateOfDocument state, Execution execution,
                                    const Cancellation& job) {
  JOINTER_CHECK(check_execution(state.snapshot->graph, execution));
  AnalysisOptions options = state.snapshot->analysis.options;
  options.execution = execution;
  JOINTER_CHECK(analyze_with(options, state, job));
  state.name = tr("%1, %2").arg(state.name, name_of(execution));
  return state;
}

Result<Comparison> compare_documents(StateOfDocument from, StateOfDocument to,
                                     const AnalysisOptions& options,
                                     std::optional<Execution> second, const Cancellation& job) {
  JOINTER_CHECK(analyze_with(options, from, job));
  JOINTER_CHECK(analyze_with(options, to, job));
  const bool from_is_pair = from.snapshot->graph.is_pair();
  if (from_is_pair != to.snapshot->graph.is_pair()) {
    StateOfDocument& single = from_is_pair ? to : from;
    if (sac_kind(single.snapshot->graph) == SacKind::joint) {
      JOINTER_CHECK(partition_state(single, options, job));
    }
  }
  if (second) {
    JOINTER_TRY(to, executed_as(std::move(to), *second, job));
  }
  JOINTER_TRY(Comparison comparison, compare_states({from.name, from.snapshot},
                                                    {to.name, to.snapshot}, Matching::closest));
  if (comparison.nodes->is_by_name()) comparison.plan = plan_changes(from, to);
  return comparison;
}

}  // namespace jointer::views
