// Chooses the activations that are worth offloading.
//
// A forward call is a candidate if it is in a layer, but not in the last of several (whose results
// the backward reads immediately), and its result
//   - is one dense tensor of at least 4,096 bytes in its own memory: not a view, a collective or a
//     wait;
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

class Chooser {
 public:
  Chooser(const Graph& graph, const Users& users, const TagPlan& plan)
      : graph_(graph), users_(users), plan_(plan) {}

  [[nodiscard]] bool can_go(NodeId id) const {
    const Node& n = graph_.node(id);
    const OperatorInfo& op = graph_.op(n);
    const Tensor* t = graph_.single_tensor(n);
    if (t == nullptr || !is_dense(graph_.shape(*t), graph_.stride(*t)) ||
        graph_.bytes(*t) < kMinBytes)
      return false;
    if (!op.is_getitem && (is_offload_view(graph_, id) || op.space() == "_c10d_functional"))
      return false;
    const MemoryPolicy policy = plan_.policy(id);
    if (policy != MemoryPolicy::none) return policy == MemoryPolicy::must_save;
    return !feeds_recomputed(id) && storage_readers(graph_, users_, id).in_backward;
  }

 private:
  [[nodiscard]] bool feeds_recomputed(NodeId id) const {
    const auto readers = storage_readers(graph_, users_, id).forward;
    return std::any_of(readers.begin(), readers.end(),
                       [&](NodeId reader) { return is_recomputed(plan_.policy(reader)); });
  }

  const Graph& graph_;
  const Users& users_;
  const TagPlan& plan_;
};

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
  const Chooser chooser(graph, users, plan);
  std::vector<NodeId> candidates;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    const std::int64_t layer = layers.of(id);
    if (n.kind == NodeKind::call && n.phase == Phase::forward && layer != Layers::kNone &&
        layer != skipped && chooser.can_go(id))
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
