#include "core/bench/step_of_run.h"

#include <cmath>

namespace jointer {
namespace {

std::int64_t local_copy_ns(std::int64_t bytes, const DeviceDescription& device) {
  const double rate = device.memory_gbps * device.efficiency.memory;  // bytes per nanosecond
  const double moving = rate > 0 ? 2 * static_cast<double>(bytes) / rate : 0;
  return std::llround(moving + device.kernel_us * 1e3);
}

// The change of the step time if local copies replace the collectives. On a GPU, a copy runs in the
// background for as long as its collective does in the simulation; on a CPU, calls wait for it.
// Copies to and from the host are real on a rank that runs alone, so their exposed time stays.
std::int64_t change_by_copies(const Graph& graph, const Analysis& analysis) {
  const bool can_overlap = analysis.device.id != "cpu";
  std::int64_t ns = 0;
  for (const CollectiveTiming& each : analysis.simulation.collectives()) {
    if (each.is_transfer) continue;
    const std::int64_t copy =
        local_copy_ns(graph.output_bytes(graph.node(each.start)), analysis.device);
    const std::int64_t hidden = can_overlap ? each.end_ns - each.start_ns - each.exposed_ns : 0;
    ns += std::max<std::int64_t>(0, copy - std::max<std::int64_t>(0, hidden)) - each.exposed_ns;
  }
  return ns;
}

}  // namespace

std::int64_t step_of_run(const Graph& graph, const Analysis& analysis,
                         const BenchmarkRequest& request) {
  const Simulation& simulation = analysis.simulation;
  std::int64_t step = simulation.step_ns();
  if (request.solo) step += change_by_copies(graph, analysis);
  if (request.backend == Backend::cudagraph || request.recorded) step -= simulation.host_bound_ns();
  return step;
}

}  // namespace jointer
