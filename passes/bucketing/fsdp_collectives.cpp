#include "passes/bucketing/fsdp_collectives.h"

#include <unordered_set>

#include "core/ops/collective_targets.h"
#include "core/ops/flops.h"

namespace jointer {

bool depends_on_one_placeholder(const Graph& graph, NodeId id) {
  std::vector<NodeId> pending{id};
  std::unordered_set<NodeId> met{id};
  std::size_t placeholders = 0;
  while (!pending.empty() && placeholders < 2) {
    const NodeId at = pending.back();
    pending.pop_back();
    for (const NodeId input : graph.inputs(at)) {
      if (!met.insert(input).second) continue;
      if (graph.node(input).kind == NodeKind::placeholder)
        ++placeholders;
      else
        pending.push_back(input);
    }
  }
  return placeholders == 1;
}

bool is_fsdp_all_gather(const Graph& graph, NodeId start) {
  const Node& n = graph.node(start);
  return n.kind == NodeKind::call &&
         graph.target(n).starts_with("_c10d_functional.all_gather_into_") &&
         depends_on_one_placeholder(graph, start);
}

bool is_fsdp_reduce_scatter(const Graph& graph, const Users& users, NodeId start) {
  const Node& n = graph.node(start);
  if (n.kind != NodeKind::call || graph.target(n) != kReduceScatterTarget) return false;
  std::vector<NodeId> pending{start};
  std::unordered_set<NodeId> met{start};
  while (!pending.empty()) {
    const NodeId at = pending.back();
    pending.pop_back();
    for (const NodeId user : users.of(at)) {
      const Node& u = graph.node(user);
      if (u.kind == NodeKind::output) continue;
      if (u.input_count != 1) return false;
      if (met.insert(user).second) pending.push_back(user);
    }
  }
  return true;
}

namespace {

// True if no node that can be reached from `start` through `next` is a compute node, an all-gather
// or a reduce-scatter.
template <class Next>
bool reaches_no_compute(const Graph& graph, NodeId start, const Next& next) {
  std::vector<NodeId> pending{start};
  std::unordered_set<NodeId> met{start};
  while (!pending.empty()) {
    const NodeId at = pending.back();
    pending.pop_back();
    for (const NodeId id : next(at)) {
      if (!met.insert(id).second) continue;
      const Node& n = graph.node(id);
      const CollectiveKind kind =
          n.kind == NodeKind::call ? graph.op(n).collective : CollectiveKind::none;
      if (is_torch_compute(graph, id) || kind == CollectiveKind::all_gather ||
          kind == CollectiveKind::reduce_scatter)
        return false;
      pending.push_back(id);
    }
  }
  return true;
}

}  // namespace

bool gathers_parameters(const Graph& graph, NodeId start) {
  return reaches_no_compute(graph, start, [&](NodeId id) { return graph.inputs(id); });
}

bool reduces_gradients(const Graph& graph, const Users& users, NodeId start) {
  return reaches_no_compute(graph, start, [&](NodeId id) { return users.of(id); });
}

bool is_torch_compute(const Graph& graph, NodeId id) {
  const Node& n = graph.node(id);
  return n.kind == NodeKind::call && is_in_torch_registry(graph.op(n).packet());
}

}  // namespace jointer
