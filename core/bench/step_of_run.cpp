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

// Copies to and from the host are real on a rank that runs alone, so their exposed time stays.
std::int64_t exposed_collectives_ns(const Simulation& simulation) {
  std::int64_t ns = 0;
  for (const CollectiveTiming& each : simulation.collectives())
    if (!each.is_transfer) ns += each.exposed_ns;
  return ns;
}

}  // namespace

std::int64_t step_of_run(const Graph& graph, const Analysis& analysis,
                         const BenchmarkRequest& request) {
  const Simulation& simulation = analysis.simulation;
  std::int64_t step = simulation.step_ns();
  if (request.solo)
    step += local_copies_ns(graph, analysis.device) - exposed_collectives_ns(simulation);
  if (request.backend == Backend::cudagraph || request.recorded) step -= simulation.host_bound_ns();
  return step;
}

}  // namespace jointer
