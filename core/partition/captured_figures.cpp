#include "core/partition/captured_figures.h"

#include "core/partition/partitioned_values.h"
#include "core/schedule/simulation.h"

namespace jointer {

PlanFigures captured_figures(const Graph& graph, std::span<const NodeCost> costs,
                             std::span<const SaveCandidate> decided, const MemoryOptions& memory) {
  const MemoryTimeline timeline(graph, memory);
  const Simulation simulation(graph, costs);
  PlanFigures figures = partitioned_figures(graph, decided);
  figures.figures = {.peak_bytes = timeline.peak_bytes(),
                     .step_ns = simulation.step_ns(),
                     .exposed_ns = simulation.exposed_ns()};
  figures.compute_ns = simulation.compute_ns();
  return figures;
}

}  // namespace jointer
