#include "core/graph/leftovers.h"

#include <algorithm>

namespace jointer {
namespace {

// Those that were captured are no leftovers until an erased node turns out to have used them.
std::vector<bool> added_since(std::size_t captured, std::size_t now) {
  std::vector<bool> added(now, true);
  std::fill_n(added.begin(), std::min(captured, now), false);
  return added;
}

}  // namespace

Leftovers find_leftovers(const Graph& graph) {
  const Graph::Captured captured = graph.captured();
  Leftovers left{.storages = std::vector<bool>(graph.storage_count(), true),
                 .module_stacks = added_since(captured.module_stacks, graph.module_stack_count()),
                 .stacks = added_since(captured.stacks, graph.stack_count())};
  const auto mark = [&](const Node& n, bool is_left) {
    for (const Tensor& t : graph.tensors(n))
      if (t.storage) left.storages[t.storage.index()] = is_left;
    if (n.module) left.module_stacks[n.module.index()] = is_left;
    if (n.stack) left.stacks[n.stack.index()] = is_left;
  };
  if (graph.any_erased())
    for (std::size_t i = 0; i < graph.node_count(); ++i)
      if (!graph.is_live(NodeId(i))) mark(graph.node(NodeId(i)), true);
  for (const NodeId id : graph.order()) mark(graph.node(id), false);
  return left;
}

}  // namespace jointer
