// Chooses the activations that are worth offloading.
//
// A forward call is a candidate if it is in a layer, but not in the last of several (whose results
// the backward reads immediately), and its result
//   - is one dense tensor of at least 4,096 bytes, and not that of a view (by upstream's list), a
//     collective or a wait;
//   - is tagged MUST_SAVE; or it is untagged, the backward reads it directly or through views, and
//     no recomputed call reads it.
// The largest candidates are chosen first, and candidates of the same size in program order. A
// candidate that is larger than the remaining budget is skipped, since a smaller one may still fit.
//
// Cost: n log n, plus the readers of untagged values.
// Source: tag_all_offloadable_activations of torchtitan's graph trainer (cpu_offload.py).
// Deviation: symbolic sizes count with their assumed values (upstream: 4,096).

#include "core/policy/offload_choice.h"

#include <algorithm>
#include <unordered_set>

#include "core/graph/memory_policy.h"
#include "core/graph/storages.h"

namespace jointer {
namespace {

constexpr std::int64_t kMinBytes = 4096;

bool can_go(const Graph& graph, const Users& users, const TagPlan& plan, NodeId id) {
  const Node& n = graph.node(id);
  const OperatorInfo& op = graph.op(n);
  const Tensor* t = graph.single_tensor(n);
  if (t == nullptr || !is_dense(graph.shape(*t), graph.stride(*t)) || graph.bytes(*t) < kMinBytes)
    return false;
  if (!op.is_getitem && (is_offload_view(graph, id) || op.space() == "_c10d_functional"))
    return false;
  const MemoryPolicy policy = plan.policy(id);
  if (policy != MemoryPolicy::none) return policy == MemoryPolicy::must_save;
  const StorageReaders readers = storage_readers(graph, users, id);
  return readers.in_backward && std::ranges::none_of(readers.forward, [&](NodeId reader) {
           return is_recomputed(plan.policy(reader));
         });
}

}  // namespace

StorageReaders storage_readers(const Graph& graph, const Users& users, NodeId node) {
  StorageReaders readers;
  std::unordered_set<NodeId> seen;
  std::vector<NodeId> open{node};
  while (!open.empty()) {
    const NodeId at = open.back();
    open.pop_back();
    for (const NodeId user : users.of(at)) {
      const Node& n = graph.node(user);
      if (n.kind != NodeKind::call) continue;
      if (n.phase == Phase::backward) {
        readers.in_backward = true;
      } else if (seen.insert(user).second) {
        readers.forward.push_back(user);
        if (is_offload_view(graph, user)) open.push_back(user);
      }
    }
  }
  return readers;
}

std::vector<NodeId> choose_offloads(const Graph& graph, const Users& users, const Layers& layers,
                                    const TagPlan& plan, std::int64_t budget_bytes) {
  const std::int64_t skipped = layers.count() > 1 ? layers.last() : Layers::kNone;
  std::vector<NodeId> candidates;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    const std::int64_t layer = layers.of(id);
    if (n.kind == NodeKind::call && n.phase == Phase::forward && layer != Layers::kNone &&
        layer != skipped && can_go(graph, users, plan, id))
      candidates.push_back(id);
  }
  std::stable_sort(candidates.begin(), candidates.end(), [&](NodeId a, NodeId b) {
    return graph.output_bytes(graph.node(a)) > graph.output_bytes(graph.node(b));
  });
  std::vector<NodeId> chosen;
  std::int64_t used = 0;
  for (const NodeId id : candidates) {
    const std::int64_t bytes = graph.output_bytes(graph.node(id));
    if (budget_bytes > 0 && bytes > budget_bytes - used) continue;
    used += bytes;
    chosen.push_back(id);
  }
  std::sort(chosen.begin(), chosen.end(),
            [&](NodeId a, NodeId b) { return graph.position(a) < graph.position(b); });
  return chosen;
}

}  // namespace jointer
