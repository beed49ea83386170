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

Result<Graph> planned_graph(const SacState& state) {
  if (!state.is_step())
    return emit_pair(state.base->partition.joint, state.plan, state.base->settings.partitioner);
  return step_of_plan(state.step->snapshot->graph, state.plan);
}

}  // namespace

Result<Graph> ordered_graph(const SacState& state) {
  JOINTER_TRY(const Graph graph, planned_graph(state));
  return in_order(graph, state.order, built_in_passes(), state.snapshot->analysis.options);
}

Result<OrderedFigures> ordered_figures(const SacState& state) {
  JOINTER_TRY(const Graph graph, ordered_graph(state));
  const AnalysisOptions& options = state.snapshot->analysis.options;
  JOINTER_TRY(const StepFigures after, step_figures(graph, options));
  OrderedFigures found{.figures = after.figures, .reserved_bytes = {}};
  if (has_reserved(state)) found.reserved_bytes = reserved_peak_bytes(graph, options.memory);
  return found;
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
