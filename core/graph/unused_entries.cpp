#include "core/graph/unused_entries.h"

#include <algorithm>

namespace jointer {
namespace {

// False for captured entries, true for entries added by edits. The caller marks captured entries
// that only an erased node uses.
std::vector<bool> added_since(std::size_t captured, std::size_t now) {
  std::vector<bool> added(now, true);
  std::fill_n(added.begin(), std::min(captured, now), false);
  return added;
}

// Visits erased nodes before live ones, so that an entry used by both counts as used.
template <class Visit>
void visit_nodes(const Graph& graph, Visit visit) {
  if (graph.any_erased())
    for (std::size_t i = 0; i < graph.node_count(); ++i)
      if (!graph.is_live(NodeId(i))) visit(graph.node(NodeId(i)), true);
  for (const NodeId id : graph.order()) visit(graph.node(id), false);
}

}  // namespace

// The pool still has the tensors of values that edits replaced, before the tensors that edits
// added. All tensors up to the last one of any node therefore belong, or belonged, to a node.
std::vector<bool> find_unused_storages(const Graph& graph) {
  // Edits that only move nodes leave every storage in use.
  const Graph::Captured captured = graph.captured();
  if (!graph.any_erased() && graph.tensor_count() == captured.tensors &&
      graph.storage_count() == captured.storages)
    return std::vector<bool>(captured.storages);
  std::vector<char> is_used(graph.storage_count()), was_used(graph.storage_count());
  std::size_t end = 0;
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& n = graph.node(NodeId(i));
    end = std::max(end, std::size_t{n.first_tensor} + n.tensor_count);
    if (!graph.is_live(NodeId(i))) continue;
    for (const Tensor& t : graph.tensors(n))
      if (t.storage) is_used[t.storage.index()] = 1;
  }
  for (std::size_t i = 0; i < end; ++i)
    if (const Tensor& t = graph.tensor(TensorId(i)); t.storage) was_used[t.storage.index()] = 1;

  std::vector<bool> unused = added_since(captured.storages, graph.storage_count());
  for (std::size_t i = 0; i < unused.size(); ++i)
    unused[i] = is_used[i] == 0 && (unused[i] || was_used[i] != 0);
  return unused;
}

UnusedEntries find_unused_entries(const Graph& graph) {
  const Graph::Captured captured = graph.captured();
  UnusedEntries left{
      .storages = find_unused_storages(graph),
      .module_stacks = added_since(captured.module_stacks, graph.module_stack_count()),
      .stacks = added_since(captured.stacks, graph.stack_count())};
  visit_nodes(graph, [&](const Node& n, bool is_left) {
    if (n.module) left.module_stacks[n.module.index()] = is_left;
    if (n.stack) left.stacks[n.stack.index()] = is_left;
  });
  return left;
}

}  // namespace jointer
