#include "views/session/sac/ordered_plan.h"

#include <utility>

#include "core/pass/pipeline_run.h"
#include "core/pass/pipeline_text.h"
#include "core/policy/apply_step_tags.h"
#include "core/schedule/caching_allocator.h"
#include "passes/built_in.h"
#include "passes/tune/find_order.h"

namespace jointer::views {
namespace {

Result<Graph> planned_graph(const OrderedPlan& plan) {
  if (plan.base)
    return emit_pair(plan.base->partition.joint, plan.plan, plan.base->settings.partitioner);
  return step_of_plan(plan.step->snapshot->graph, plan.plan);
}

const Analysis& analysis_of(const OrderedPlan& plan) {
  return plan.base ? plan.base->snapshot->analysis : plan.step->snapshot->analysis;
}

}  // namespace

OrderedPlan plan_of(const SacState& state) {
  return {state.base, state.step, state.plan, state.order};
}

Result<Graph> ordered_graph(const OrderedPlan& plan) {
  JOINTER_TRY(const Graph graph, planned_graph(plan));
  return in_order(graph, plan.order, built_in_passes(), analysis_of(plan).options);
}

Result<OrderedFigures> ordered_figures(const OrderedPlan& plan) {
  JOINTER_TRY(const Graph graph, ordered_graph(plan));
  const AnalysisOptions& options = analysis_of(plan).options;
  JOINTER_TRY(const StepFigures after, step_figures(graph, options));
  OrderedFigures found{.figures = after.figures, .compute_ns = after.compute_ns};
  if (analysis_of(plan).memory.device() == DeviceType::cuda)
    found.reserved_bytes = reserved_peak_bytes(graph, options.memory);
  return found;
}

Result<Figures> figures_in_order(const SacState& state) {
  if (state.order.empty()) return state.figures.figures;
  return ordered_figures(plan_of(state)).map([](const OrderedFigures& found) {
    return found.figures;
  });
}

Result<std::vector<Edit>> ordered_tags(const Snapshot& tagged, const std::string& order) {
  std::vector<Edit> edits;
  JOINTER_TRY(Edit tags, step_tags_edit(tagged.graph));
  Graph graph = tagged.graph;
  if (!tags.changes.empty()) {
    JOINTER_CHECK(apply(graph, tags));
    edits.push_back(std::move(tags));
  }
  if (order.empty()) return edits;
  JOINTER_TRY(const Pipeline pipeline, parse_pipeline(order));
  PassContext::Options options;
  options.analysis = tagged.analysis.options;
  JOINTER_TRY(const PipelineRun done,
              run_whole_pipeline(graph, pipeline, built_in_passes(), options));
  for (const StepResult& step : done.steps)
    if (!step.edit.changes.empty()) edits.push_back(step.edit);
  return edits;
}

}  // namespace jointer::views
