#include "core/schedule/collective_waits.h"

namespace jointer {

CollectiveWaits::CollectiveWaits(const Graph& graph) : graph_(graph) {
  if (!graph.is_pair()) return;
  is_waited_in_its_half_.assign(graph.node_count(), false);
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (!graph.is_wait(n)) continue;
    if (const NodeId start = graph.collective_of_wait(n); start && graph.node(start).part == n.part)
      is_waited_in_its_half_[start.index()] = true;
  }
}

NodeId CollectiveWaits::ended_by(const Node& wait) const {
  if (!graph_.is_wait(wait)) return {};
  const NodeId start = graph_.collective_of_wait(wait);
  if (!start || is_waited_in_its_half_.empty() || graph_.node(start).part == wait.part)
    return start;
  return is_waited_in_its_half_[start.index()] ? NodeId{} : start;
}

}  // namespace jointer
