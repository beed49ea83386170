#include "views/session/workspace/workspace_options.h"

#include "core/base/number_text.h"
#include "core/cost/estimator.h"
#include "core/workspace/workspace_capture.h"

namespace jointer::views {

WorkspaceOptions to_workspace(const AnalysisOptions& options) {
  const EstimatorRequest& estimator = options.estimator;
  WorkspaceOptions saved{
      .device = estimator.device,
      .estimator = estimator.name,
      .optimizer = options.memory.optimizer == OptimizerState::adamw ? "adamw" : "none"};
  if (estimator.gpus_per_node != EstimatorRequest().gpus_per_node)
    saved.gpus_per_node = std::to_string(estimator.gpus_per_node);
  if (options.execution != Execution::eager) saved.execution = to_string(options.execution);
  return saved;
}

AnalysisOptions with_workspace(AnalysisOptions options, const WorkspaceOptions& saved) {
  EstimatorRequest& estimator = options.estimator;
  if (!saved.device.empty()) estimator.device = saved.device;
  if (!saved.estimator.empty()) estimator.name = saved.estimator;
  if (saved.optimizer == "adamw") options.memory.optimizer = OptimizerState::adamw;
  if (saved.optimizer == "none") options.memory.optimizer = OptimizerState::none;
  if (const auto gpus = number_of<std::int64_t>(saved.gpus_per_node); gpus && *gpus > 0)
    estimator.gpus_per_node = *gpus;
  options.execution = execution_named(saved.execution).value_or(Execution::eager);
  return options;
}

void override_with(Workspace& workspace, const GivenOptions& given) {
  if (!given.device.empty()) workspace.options.device = given.device;
  if (const auto assumptions = assumptions_of(workspace.capture, given.assumptions))
    workspace.capture.assume = assumptions->text();
}

WorkspaceOptions described(AnalysisOptions options, const Graph& graph) {
  if (options.estimator.device.empty())
    if (const auto estimator = estimator_for(graph, options))
      options.estimator.device = (*estimator)->device().id;
  return to_workspace(options);
}

}  // namespace jointer::views
