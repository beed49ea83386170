#include "core/schedule/assumed_step.h"

#include <memory>
#include <vector>

namespace jointer {

Result<std::int64_t> step_if_assumed(const Graph& graph, const Analysis& analysis,
                                     const Assumptions& assumptions,
                                     const std::function<bool(const Node&)>& changes) {
  Graph assumed = graph;
  JOINTER_CHECK(assumed.assume(assumptions));
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator,
              make_estimator(analysis.options.estimator, analysis.memory.device()));
  std::vector<NodeCost> costs = analysis.costs;
  for (const NodeId node : graph.order()) {
    if (!changes(graph.node(node))) continue;
    const std::int64_t host_ns = costs[node.index()].host_ns;
    costs[node.index()] = estimator->estimate(assumed, node);
    if (analysis.compiled) costs[node.index()].host_ns = host_ns;
  }
  const SimulationOptions& options = analysis.options.simulation;
  const std::int64_t step_ns = Simulation(graph, costs, options).step_ns();
  if (!analysis.compiled) return step_ns;
  // The kernels of a compiled step do not run in the graph's order, so only the difference between
  // the two estimates counts.
  return analysis.simulation.step_ns() + step_ns -
         Simulation(graph, analysis.costs, options).step_ns();
}

}  // namespace jointer
