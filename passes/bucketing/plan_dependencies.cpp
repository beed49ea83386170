// Source: torch/_inductor/augmented_graph_helper.py (2.15), transfer_erased_node_deps: a node's own
// dependencies come before those transferred to it.
// Cost per bucket: the number of its members' dependencies, times the number of dependencies of the
// nodes at the other end.

#include "passes/bucketing/plan_dependencies.h"

#include <algorithm>
#include <unordered_map>

namespace jointer {
namespace {

bool has(const std::vector<NodeId>& list, NodeId node) {
  return std::ranges::find(list, node) != list.end();
}

void append(std::vector<NodeId>& list, NodeId node) {
  if (!has(list, node)) list.push_back(node);
}

}  // namespace

void PlanDependencies::add(NodeId node, NodeId needed) {
  append(needs_[node.index()], needed);
  append(users_[needed.index()], node);
}

bool PlanDependencies::is_reversed(const Graph& graph, NodeId node, NodeId needed) const {
  const auto inputs = graph.inputs(needed);
  return has(needs_[needed.index()], node) || std::ranges::find(inputs, node) != inputs.end();
}

void PlanDependencies::replace(const Graph& graph, std::span<const Replacement> members) {
  std::unordered_map<NodeId, NodeId> replaced(members.begin(), members.end());
  const auto now = [&](NodeId node) {
    const auto found = replaced.find(node);
    return found == replaced.end() ? node : found->second;
  };
  for (const auto& [old, replacement] : members) {
    for (const NodeId need : std::vector(needs_[old.index()])) {
      const NodeId needed = now(need);
      if (needed == replacement || is_reversed(graph, replacement, needed)) continue;
      append(needs_[replacement.index()], needed);
      std::erase(users_[needed.index()], old);
      append(users_[needed.index()], replacement);
    }
    for (const NodeId use : std::vector(users_[old.index()])) {
      const NodeId user = now(use);
      if (user == replacement || is_reversed(graph, user, replacement)) continue;
      std::erase(needs_[user.index()], old);
      append(needs_[user.index()], replacement);
      append(users_[replacement.index()], user);
    }
  }
  for (const auto& [old, replacement] : members) {
    needs_[old.index()].clear();
    users_[old.index()].clear();
  }
}

std::vector<OrderEdge> PlanDependencies::edges(const Graph& graph) const {
  std::vector<OrderEdge> edges;
  for (std::size_t i = 0; i < needs_.size(); ++i)
    for (const NodeId needed : needs_[i])
      if (graph.is_live(NodeId(i)) && graph.is_live(needed))
        edges.push_back({.before = needed, .after = NodeId(i)});
  return edges;
}

}  // namespace jointer
