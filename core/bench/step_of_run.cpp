#include "core/bench/step_of_run.h"

#include <cmath>

namespace jointer {
namespace {

std::int64_t local_copies_ns(const Graph& graph, const DeviceDescription& device) {
  std::int64_t bytes = 0, copies = 0;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!graph.is_collective_start(node)) continue;
    bytes += graph.output_bytes(node);
    ++copies;
  }
  const double rate = device.memory_gbps * device.efficiency.memory;  // bytes per nanosecond
  const double moving = rate > 0 ? 2 * static_cast<double>(bytes) / rate : 0;
  return std::llround(moving + static_cast<double>(copies) * device.kernel_us * 1e3);
}

}  // namespace

std::int64_t step_of_run(const Graph& graph, const Analysis& analysis,
                         const BenchmarkRequest& request) {
  const Simulation& simulation = analysis.simulation;
  std::int64_t step = simulation.step_ns();
  if (request.solo) step += local_copies_ns(graph, analysis.device) - simulation.exposed_ns();
  if (request.backend == Backend::cudagraph || request.recorded) step -= simulation.host_bound_ns();
  return step;
}

}  // namespace jointer
