#include "core/schedule/memory_times.h"

#include <algorithm>

namespace jointer {

std::vector<std::int64_t> memory_times(const Graph& graph, const MemoryTimeline& memory,
                                       const Simulation& simulation) {
  std::vector<std::int64_t> times;
  times.reserve(memory.profile().size());
  times.push_back(0);
  std::int64_t clock = 0;
  for (const NodeId id : memory.steps()) {
    const bool is_start = graph.is_asynchronous(graph.node(id));
    const NodeTiming& timing = simulation.timing(id);
    const auto collective = static_cast<std::size_t>(simulation.collective_of(id));
    clock =
        std::max(clock, is_start ? simulation.collectives()[collective].ready_ns : timing.start);
    times.push_back(clock);
    if (!is_start) clock = std::max(clock, timing.end);
    times.push_back(clock);
  }
  return times;
}

}  // namespace jointer
