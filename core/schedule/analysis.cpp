#include "core/schedule/analysis.h"

namespace jointer {

Result<Analysis> analyze(const Graph& graph, const AnalysisOptions& options) {
  AnalysisOptions used = options;
  used.execution = Execution::eager;
  const DeviceType runs_on = used.memory.runs_on.value_or(graph.main_device());
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, make_estimator(used.estimator, runs_on));
  if (used.estimator.device.empty()) used.estimator.device = estimator->device().id;
  MemoryTimeline memory(graph, used.memory);
  ReservedProfile reserved = simulate_reserved(memory, memory.device());
  std::vector<NodeCost> costs = estimate_all(graph, *estimator);
  std::string description = estimator->description_of(costs);
  Simulation simulation(graph, costs, used.simulation);
  std::vector<Flops> flops = flops_of(graph);
  const GraphFlops total_flops = graph_flops(graph, flops);
  Analysis analysis{.options = used,
                    .estimator = std::move(description),
                    .device = estimator->device(),
                    .modules = ModuleTree(graph),
                    .memory = std::move(memory),
                    .reserved = std::move(reserved),
                    .costs = std::move(costs),
                    .transfers = estimator->transfer_costs(),
                    .flops = std::move(flops),
                    .simulation = std::move(simulation),
                    .total_flops = total_flops,
                    .model = find_model_facts(graph),
                    .throughput = {}};
  analysis.throughput = throughput(analysis.model, analysis.total_flops.total,
                                   analysis.simulation.step_ns(), analysis.device);
  return analysis;
}

}  // namespace jointer
