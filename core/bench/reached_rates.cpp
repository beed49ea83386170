#include "core/bench/reached_rates.h"

#include "core/cost/achieved_rates.h"

namespace jointer {

std::string reached_rates(const Graph& graph, const Analysis& analysis,
                          const Measurement& measurement, NodeId call, std::int64_t ns) {
  const Node& node = graph.node(call);
  if (was_local_copy(graph, measurement, node)) return {};
  const DeviceDescription* device =
      describes_gpu(analysis.device, measurement.device) ? &analysis.device : nullptr;
  return rates_text(
      achieved_rates(graph, node, ns, device, analysis.options.estimator.gpus_per_node));
}

}  // namespace jointer
