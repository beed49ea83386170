#pragma once

// What may not change when nodes are only moved.

#include <vector>

#include "core/graph/dependencies.h"

namespace jointer::test {

// Nothing stands before what it depends on. `after`: the same nodes in another order.
inline bool keeps_dependencies(const Graph& before, const Graph& after) {
  const Dependencies dependencies(before);
  for (const NodeId id : before.order())
    for (const Dependency& d : dependencies.before(id))
      if (after.position(d.node) > after.position(id)) return false;
  return true;
}

// Starts of collectives in the order that they have, by group; those of no known group are last.
inline std::vector<std::vector<NodeId>> starts_by_group(const Graph& graph) {
  std::vector<std::vector<NodeId>> starts(graph.group_count() + 1);
  for (const NodeId id : graph.order())
    if (const Node& n = graph.node(id); graph.is_collective_start(n))
      starts[n.group ? n.group.index() : graph.group_count()].push_back(id);
  return starts;
}

}  // namespace jointer::test
