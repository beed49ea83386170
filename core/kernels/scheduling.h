#pragma once

// The state of Inductor's scheduler while it fuses: ops, their accesses and ancestors, and the
// nodes that consist of one or several ops.
//
// Steps of the constructor (`Scheduler._init` up to fusion): topological order of the ops, removal
// of dead ops, ancestors, foreach kernels (`create_foreach_nodes`), order. Cost: linear in
// accesses, up to the sorting of names, plus that of the ancestors (ancestor_sets.h).
//
// Terms: a scheduler node (`NodeIndex`) is one op, or several that will be one kernel. Unmet
// dependencies are reads of buffers that the graph itself computes.
//
// Source: torch._inductor.scheduler (`topological_sort_schedule`, `dead_node_elimination`,
// `prune_weak_deps`, `compute_ancestors`, `SchedulerNode`, `FusedSchedulerNode`, `init_group_node`,
// `prune_redundant_deps`).
//
// Deviations: those of fusion_rules.h.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/torch_version.h"
#include "core/kernels/access_table.h"
#include "core/kernels/ancestor_sets.h"
#include "core/kernels/ir.h"
#include "core/kernels/kernels.h"

namespace jointer::kernels {

using NodeIndex = std::int32_t;

// Loops and accesses of an op as they are now: fusion may reorder and regroup the loops of
// pointwise ops.
struct OpLoops {
  Sizes loops, reduced;
  AccessIds reads, writes, unmet;  // each once, in order
  std::int64_t numel = 1, rnumel = 1;
};

struct SchedulerNode {
  SmallVector<OpId, 4> ops;
  AccessIds reads, writes, unmet;  // each once, in order
  AccessIds accesses;              // reads and writes, sorted
  BufferIds used;                  // buffers of these accesses, each once, in order
  BufferIds outputs;
  std::int64_t numel = 1, rnumel = 1;
  std::int32_t min_order = 0, max_order = 0;
  bool is_reduction = false;
  bool is_extern = false;  // an external kernel, a collective, or a node that computes nothing
  bool is_on_gpu = true;
  bool is_template = false;         // has an op of a template, which is the first
  std::vector<NodeIndex> parallel;  // parts of a foreach kernel, which run side by side
  // In a mix-order reduction: the node that reads along rows, and the one that reads across them.
  NodeIndex contiguous = -1, crossing = -1;
  OpId leader = -1;  // the first op that reduces, or else the first: its loops are the node's
  // On the CPU: nodes that share only their first `outer_depth` loops; empty otherwise.
  std::vector<NodeIndex> outer;
  std::size_t outer_depth = 0;

  [[nodiscard]] bool is_fused() const { return ops.size() > 1; }
  [[nodiscard]] bool is_mix_order() const { return contiguous >= 0; }
  [[nodiscard]] bool is_foreach() const { return !parallel.empty(); }
};

class Scheduling {
 public:
  Scheduling(const Ir& ir, TorchVersion torch);

  [[nodiscard]] const Ir& ir() const { return ir_; }
  [[nodiscard]] const Op& op(OpId id) const { return ir_.ops[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const Buffer& buffer(BufferId id) const {
    return ir_.buffers[static_cast<std::size_t>(id)];
  }
  // True if the rules are those of `version` or later.
  [[nodiscard]] bool has(TorchVersion version) const { return torch_ >= version; }

  [[nodiscard]] const SchedulerNode& node(NodeIndex id) const {
    return nodes_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] SchedulerNode& node(NodeIndex id) { return nodes_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  [[nodiscard]] const OpLoops& loops(OpId id) const { return loops_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] OpLoops& loops(OpId id) { return loops_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] NodeIndex node_of(OpId id) const { return node_of_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] bool is_reduction(OpId id) const;
  // Readers of a buffer that are not dead.
  [[nodiscard]] std::span<const User> users(BufferId id) const {
    const Users& range = users_[static_cast<std::size_t>(id)];
    return std::span(all_users_).subspan(range.first, range.count);
  }
  [[nodiscard]] bool is_dead(OpId id) const { return is_dead_[static_cast<std::size_t>(id)]; }

  // The buffer that a later op defines by changing this one in place; this one if no op does
  // (`mutation_renames`).
  [[nodiscard]] BufferId renamed(BufferId id) const {
    return renamed_[static_cast<std::size_t>(id)];
  }
  // The buffer whose memory this one has (`mutation_real_name`).
  [[nodiscard]] BufferId real(BufferId id) const { return real_[static_cast<std::size_t>(id)]; }
  // Buffers that an op defines by changing another one in place, in the order of ops.
  [[nodiscard]] std::span<const BufferId> mutations() const { return mutations_; }

  // True if one of the ops of `a` is an ancestor of `b`.
  [[nodiscard]] bool is_before(NodeIndex a, NodeIndex b) const {
    for (const OpId id : node(a).ops)
      if (has_ancestor(b, id)) return true;
    return false;
  }
  [[nodiscard]] bool has_ancestor(NodeIndex b, OpId id) const {
    return ancestors_.has(static_cast<std::size_t>(b), id);
  }
  // The ancestors, by node.
  [[nodiscard]] const AncestorSets& ancestors() const { return ancestors_; }
  [[nodiscard]] bool defines(NodeIndex id, BufferId buffer) const;

  // Merges the ops of two nodes into a new node, which `node_of` returns for them from then on.
  NodeIndex fuse(NodeIndex a, NodeIndex b);
  // Makes a node of two reductions over different dimensions, `contiguous` first.
  NodeIndex fuse_mix_order(NodeIndex contiguous, NodeIndex crossing);
  // Makes the node of a foreach kernel with these parts.
  NodeIndex make_foreach(std::vector<NodeIndex> parts);
  // Like `fuse`, but `node_of` still returns the old nodes of the ops.
  NodeIndex make_fused(NodeIndex a, NodeIndex b);
  // Updates the accesses of a node after those of its ops changed.
  void refresh(NodeIndex id);
  // Sets the accesses of an op, and its unmet dependencies.
  void set_accesses(OpId id, AccessIds reads, AccessIds writes);
  // Removes dependencies without data that are implied: those on the node itself, and those on a
  // node whose data it also reads if `is_fusable(access, that node, id)`.
  template <class IsFusable>
  void prune_redundant(NodeIndex id, IsFusable is_fusable);

  // Nodes in topological order: visits them depth first, in the order of `nodes`, and before each
  // node those that it reads from, in the order of the names of the buffers.
  [[nodiscard]] std::vector<NodeIndex> sorted(std::span<const NodeIndex> nodes) const;
  // The nodes before fusion, one for each op or foreach kernel, in topological order.
  [[nodiscard]] const std::vector<NodeIndex>& first_order() const { return order_; }

  AccessTable table;

 private:
  void follow_mutations();
  void sort_names();
  void forget_user(BufferId id, OpId user);
  void remove_dead(std::vector<NodeIndex>& order);
  void find_ancestors(std::span<const NodeIndex> order);
  void make_single(OpId id);
  void group_lists(std::vector<NodeIndex>& order);
  void set_derived(SchedulerNode& node) const;
  [[nodiscard]] AccessIds unmet_of(std::span<const AccessId> reads) const;
  NodeIndex add(SchedulerNode node);

  const Ir& ir_;
  TorchVersion torch_;
  std::vector<OpLoops> loops_;
  std::vector<SchedulerNode> nodes_;
  AncestorSets ancestors_;          // by node
  std::vector<NodeIndex> node_of_;  // by op
  std::vector<User> all_users_;     // by buffer
  struct Users {
    std::size_t first = 0, count = 0;  // range of `all_users_`
  };
  std::vector<Users> users_;  // by buffer
  std::vector<char> is_dead_;
  std::vector<BufferId> renamed_, real_, mutations_;
  std::vector<std::int32_t>
      name_rank_;  // by buffer: its place among the names in alphabetical order
  std::vector<NodeIndex> order_;
  std::vector<char> seen_;  // scratch, by access; 0 between uses
};

template <class IsFusable>
void Scheduling::prune_redundant(NodeIndex id, IsFusable is_fusable) {
  SchedulerNode& each = node(id);
  bool has_weak = false;
  for (const AccessId access : each.unmet) has_weak = has_weak || table.is_weak(access);
  if (!has_weak) return;
  const auto maker = [&](AccessId access) { return node_of(buffer(table.buffer(access)).op); };
  AccessIds pruned;
  for (const AccessId access : each.unmet) {
    if (!table.is_weak(access)) continue;
    const NodeIndex before = maker(access);
    bool is_redundant = before == id;
    if (!is_redundant)
      for (const AccessId other : each.unmet)
        if (!table.is_weak(other) && maker(other) == before) {
          is_redundant = is_fusable(access, before, id);
          break;
        }
    if (is_redundant) pruned.push_back(access);
  }
  if (pruned.empty()) return;
  const auto is_pruned = [&](AccessId access) {
    for (const AccessId other : pruned)
      if (other == access) return true;
    return false;
  };
  erase_if(each.reads, is_pruned);
  each.unmet = unmet_of(each.reads);
  set_derived(each);
  if (!each.is_fused()) {
    loops(each.ops.front()).reads = each.reads;
    loops(each.ops.front()).unmet = each.unmet;
  }
}

}  // namespace jointer::kernels
