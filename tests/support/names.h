#pragma once

// Names of nodes, for expectations.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace jointer::test {

inline std::vector<std::string> names(const Graph& graph, std::span<const NodeId> nodes) {
  std::vector<std::string> names;
  for (const NodeId id : nodes) names.emplace_back(graph.name(id));
  return names;
}

// All nodes, in program order.
inline std::vector<std::string> names(const Graph& graph) {
  return names(graph, graph.order());
}

// The calls, in program order.
inline std::vector<std::string> calls_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.order())
    if (graph.node(id).kind == NodeKind::call) names.emplace_back(graph.name(id));
  return names;
}

// The nodes of a part, of all kinds or of one, in program order.
inline std::vector<std::string> names_of_part(const Graph& graph, PartId part,
                                              std::optional<NodeKind> kind = {}) {
  std::vector<std::string> names;
  for (const NodeId id : graph.order())
    if (graph.node(id).part == part && (!kind || graph.node(id).kind == *kind))
      names.emplace_back(graph.name(id));
  return names;
}

// The nodes with a policy, in program order.
inline std::vector<std::string> with_policy(const Graph& graph, MemoryPolicy policy) {
  std::vector<std::string> names;
  for (const NodeId id : graph.order())
    if (graph.node(id).policy == policy) names.emplace_back(graph.name(id));
  return names;
}

// True if node `a` precedes node `b` in program order.
inline bool is_before(const Graph& graph, std::string_view a, std::string_view b) {
  return graph.position(graph.find(a)) < graph.position(graph.find(b));
}

}  // namespace jointer::test
