// deduplicate_fsdp_unshard_chains: gathers a parameter once if the model reads it several times.
//
// Terms: an unshard chain turns a parameter's shard into the whole parameter. It consists of the
// calls with a single input that lead from a placeholder to an all_gather_into_tensor, the wait for
// it, and the views and casts with a single input after the wait. Views at the end do not belong to
// the chain: each reader keeps its own.
//
// Steps, in program order:
//   1. compare each call of a chain with the earlier calls by operator and arguments, after earlier
//      replacements in the arguments; of several equal calls, keep the first;
//   2. redirect the readers of the other calls to the first;
//   3. remove gathers and waits without readers, although torch treats them as impure.
// Chains that are recomputed in the backward are equal only to each other; otherwise the parameter
// would stay live from the forward to the backward. The halves of a pair share nothing. A chain
// stays if something writes to one of its results, or to its parameter between the reads of the
// first chain and of this chain.
//
// Cost: linear in the number of nodes, except that all chains of a placeholder are compared with
// each other.
// Source: deduplicate_fsdp_unshard_chains_pass in torchtitan's graph_trainer/fsdp_passes.py.
// Deviations: upstream assumes that all chains of a placeholder are equal; here they are compared,
// so a cast to a different dtype stays, and so does a gather in a different group or of different
// data.

#include <algorithm>
#include <map>

#include "core/graph/effects.h"
#include "core/graph/equal_arguments.h"
#include "core/graph/is_call_of.h"
#include "core/graph/users.h"
#include "core/ops/collective_targets.h"
#include "passes/clean_up/clean_up.h"
#include "passes/clean_up/substitution.h"
#include "passes/support/kept.h"

namespace jointer {
namespace {

class Deduplicator {
 public:
  Deduplicator(Graph& graph, PassContext& context)
      : graph_(graph), context_(context), changes_(graph), chain_(graph.node_count(), false) {}

  Result<void> run() {
    find_written();
    find_chains();
    const std::vector<NodeId> order(graph_.order().begin(), graph_.order().end());
    for (const NodeId id : order)
      if (chain_[id.index()]) deduplicate(id);
    return changes_.finish();
  }

 private:
  void find_written() {
    writes_.assign(graph_.storage_count(), {});
    for (const NodeId id : graph_.order())
      for (const NodeId each : written_arguments(graph_, graph_.node(id)))
        for (const Tensor& tensor : graph_.tensors(each))
          if (tensor.storage)
            writes_[graph_.real_storage(tensor.storage).index()].push_back(graph_.position(id));
  }

  [[nodiscard]] bool is_written(NodeId id) const {
    const auto tensors = graph_.tensors(id);
    return std::ranges::any_of(tensors, [&](const Tensor& t) {
      return t.storage && !writes_[graph_.real_storage(t.storage).index()].empty();
    });
  }

  // True if an input of the second call is written between the two calls.
  [[nodiscard]] bool is_written_between(NodeId first, NodeId second) const {
    for (const NodeId input : graph_.inputs(second))
      for (const Tensor& t : graph_.tensors(input)) {
        if (!t.storage) continue;
        const auto& places = writes_[graph_.real_storage(t.storage).index()];
        const auto next = std::upper_bound(places.begin(), places.end(), graph_.position(first));
        if (next != places.end() && *next < graph_.position(second)) return true;
      }
    return false;
  }

  [[nodiscard]] bool is_view_or_cast(const Node& n) const {
    const OperatorInfo& op = graph_.op(n);
    return op.is_view || op.has(OperatorTag::silent_alias) ||
           op.packet() == "prims.convert_element_type" || op.packet() == "aten._to_copy";
  }

  // Follows each gather of a parameter back to the placeholder, then forward to the readers of the
  // wait.
  void find_chains() {
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      if (n.kind != NodeKind::call) continue;
      if (is_call_of(graph_, n, kAllGatherTarget)) {
        std::vector<NodeId> chain{id};
        NodeId at = id;
        while (graph_.inputs(at).size() == 1) {
          at = graph_.inputs(at).front();
          if (graph_.node(at).kind == NodeKind::placeholder) break;
          chain.push_back(at);
        }
        if (graph_.node(at).kind == NodeKind::placeholder)
          for (const NodeId each : chain) chain_[each.index()] = true;
        continue;
      }
      const auto inputs = graph_.inputs(id);
      if (inputs.size() != 1 || !chain_[inputs.front().index()]) continue;
      const bool follows_gather =
          graph_.is_wait(n) || (follows_wait(inputs.front()) && is_view_or_cast(n));
      if (follows_gather) chain_[id.index()] = true;
    }
    leave_views_at_ends();
  }

  void leave_views_at_ends() {
    const Users users(graph_);
    const auto order = graph_.order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const NodeId id = *it;
      if (!chain_[id.index()] || !graph_.op(graph_.node(id)).is_view) continue;
      chain_[id.index()] = std::ranges::any_of(
          users.of(id), [&](NodeId user) -> bool { return chain_[user.index()]; });
    }
  }

  [[nodiscard]] bool follows_wait(NodeId id) const {
    while (chain_[id.index()] && !is_call_of(graph_, id, kAllGatherTarget)) {
      if (graph_.is_wait(graph_.node(id))) return true;
      id = graph_.inputs(id).front();
    }
    return false;
  }

  // Duplicates have the same operator and input, and either both or neither are recomputed in the
  // backward.
  struct Key {
    NodeId input;
    OperatorId target;
    bool runs_again = false;
    auto operator<=>(const Key&) const = default;
  };

  void deduplicate(NodeId id) {
    const Node& n = graph_.node(id);
    if (!changes_.can_remove(id) || is_written(id) || graph_.inputs(id).empty()) return;
    std::vector<NodeId>& alike = seen_[{.input = changes_.now(graph_.inputs(id).front()),
                                        .target = n.target,
                                        .runs_again = n.has(Node::recomputed)}];
    for (const NodeId first : alike) {
      if (!equal(changes_.now(graph_.node(first).args), changes_.now(n.args)) ||
          !equal(changes_.now(graph_.node(first).kwargs), changes_.now(n.kwargs)) ||
          is_written_between(first, id))
        continue;
      context_.decide(
          graph_, id, "removed",
          fmt::format("{} computes the same value from the same parameter", graph_.name(first)));
      changes_.replace(id, first);
      return;
    }
    alike.push_back(id);
  }

  [[nodiscard]] bool equal(const Argument& a, const Argument& b) const {
    using enum Argument::Kind;
    return equal_arguments(graph_, a, b, [](const Argument& x, const Argument& y) {
      return x.kind != opaque && x.kind != raw && x.index == y.index;
    });
  }

  Graph& graph_;
  PassContext& context_;
  Substitution changes_;
  std::vector<bool> chain_;                       // by node
  std::vector<std::vector<std::size_t>> writes_;  // by storage: ascending positions of its writers
  std::map<Key, std::vector<NodeId>> seen_;
};

Result<void> run_deduplicate_fsdp_unshard_chains(Graph& graph, const Arguments&,
                                                 PassContext& context) {
  return Deduplicator(graph, context).run();
}

}  // namespace

Pass deduplicate_fsdp_unshard_chains_pass() {
  return {.info = {.name = "deduplicate_fsdp_unshard_chains",
                   .summary = "Gathers a parameter once if the model reads it several times.",
                   .source = "torchtitan/experiments/graph_trainer/fsdp_passes.py",
                   .stage = PassStage::clean_up,
                   .is_idempotent = true},
          .run = with_kept_decision("No FSDP parameter is gathered twice.",
                                    run_deduplicate_fsdp_unshard_chains)};
}

}  // namespace jointer
