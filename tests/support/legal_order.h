#pragma once

// Invariants of edits that only move nodes.

#include <vector>

#include "core/graph/dependencies.h"

namespace jointer::test {

// Returns true if no node precedes its dependencies. `after` has the same nodes in a different
// order.
inline bool keeps_dependencies(const Graph& before, const Graph& after) {
  const Dependencies dependencies(before);
  for (const NodeId id : before.order())
    for (const Dependency& d : dependencies.before(id))
      if (after.position(d.node) > after.position(id)) return false;
  return true;
}

// Starts of collectives in program order, by group; those without a known group come last.
inline std::vector<std::vector<NodeId>> starts_by_group(const Graph& graph) {
  std::vector<std::vector<NodeId>> starts(graph.group_count() + 1);
  for (const NodeId id : graph.order())
    if (const Node& n = graph.node(id); graph.is_collective_start(n))
      starts[n.group ? n.group.index() : graph.group_count()].push_back(id);
  return starts;
}

}  // namespace jointer::test
