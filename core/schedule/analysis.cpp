#include "core/schedule/analysis.h"

#include <utility>

namespace jointer {

Analysis::Analysis(AnalysisBasis basis, const Graph& ordered)
    : AnalysisBasis(std::move(basis)),
      reserved(simulate_reserved(memory, memory.device())),
      simulation(ordered, costs, options.simulation),
      throughput(jointer::throughput(model, total_flops.total, simulation.step_ns(), device)) {}

Result<std::unique_ptr<Estimator>> estimator_for(const Graph& graph,
                                                 const AnalysisOptions& options) {
  return make_estimator(options.estimator, options.memory.runs_on.value_or(graph.main_device()));
}

Result<AnalysisBasis> analysis_basis(const Graph& graph, const AnalysisOptions& options) {
  AnalysisOptions used = options;
  used.execution = Execution::eager;
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, estimator_for(graph, used));
  if (used.estimator.device.empty()) used.estimator.device = estimator->device().id;
  std::vector<NodeCost> costs = estimate_all(graph, *estimator);
  std::string description = estimator->description_of(costs);
  std::vector<Flops> flops = flops_of(graph);
  const GraphFlops total_flops = graph_flops(graph, flops);
  return AnalysisBasis{.options = used,
                       .estimator = std::move(description),
                       .device = estimator->device(),
                       .modules = ModuleTree(graph),
                       .memory = MemoryTimeline(graph, used.memory),
                       .costs = std::move(costs),
                       .transfers = estimator->transfer_costs(),
                       .flops = std::move(flops),
                       .total_flops = total_flops,
                       .model = find_model_facts(graph)};
}

Result<Analysis> analyze(const Graph& graph, const AnalysisOptions& options) {
  JOINTER_TRY(AnalysisBasis basis, analysis_basis(graph, options));
  return Analysis(std::move(basis), graph);
}

}  // namespace jointer
