#pragma once

// Changes the loops of pointwise ops so that the ops access shared buffers in the pattern of
// another node: reorders the loops, or replaces them with the two loops of a reduction or with the
// loops of the producer.
//
// Functions that return bytes return those that the nodes share afterwards, or -1 if the patterns
// cannot be made to match. If the nodes share none after `invert`, it returns those that the second
// node can read directly from the first. A change that does not lead to a fusion is undone with
// `SavedLoops::restore`; torch 2.11 keeps it.
//
// Source: torch._inductor.scheduler (`shared_data_after_reordering_loop`,
// `_try_reorder_loops_for_candidates`, `_try_reindex_pointwise_for_reduction`,
// `shared_data_after_inverting_indexing`, `_LoopMutationTracker`).
//
// Deviations: torch 2.15 also rejects a regrouping that costs more coalesced accesses than the
// fusion saves, regroups positions with remainders, and inverts divisions; none of this is
// predicted. Versions between 2.11 and 2.15 follow the rules of 2.15.

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/kernels/scheduling.h"

namespace jointer::kernels {

// The loops of the ops of two nodes, as they were before the first change.
class SavedLoops {
 public:
  SavedLoops(Scheduling& scheduling, NodeIndex a, NodeIndex b)
      : scheduling_(scheduling), a_(a), b_(b) {}
  void save();  // does nothing if they are saved already
  void restore();

 private:
  Scheduling& scheduling_;
  NodeIndex a_, b_;
  std::vector<std::pair<OpId, OpLoops>> saved_;
};

class LoopChanges {
 public:
  // `shared_bytes` returns the bytes that two nodes share; `fusable_bytes` those that the second
  // can read directly from the first.
  using Bytes = std::function<std::int64_t(NodeIndex, NodeIndex)>;
  LoopChanges(Scheduling& scheduling, Bytes shared_bytes, Bytes fusable_bytes);

  std::int64_t reorder_or_regroup(NodeIndex a, NodeIndex b, SavedLoops& saved);
  // If one node is a reduction and the other is pointwise, regroups the loops of the pointwise node
  // to match those of the reduction. Returns true if the nodes then share an access; if not,
  // changes nothing.
  bool regroup(NodeIndex a, NodeIndex b, SavedLoops& saved);
  std::int64_t invert(NodeIndex a, NodeIndex b, SavedLoops& saved);

 private:
  std::int64_t reorder(NodeIndex a, NodeIndex b, SavedLoops& saved);
  bool reorder_node(NodeIndex id, AccessId own, AccessId other, SavedLoops& saved);
  [[nodiscard]] bool match(AccessId a, AccessId b);
  [[nodiscard]] std::vector<BufferId> common_buffers(NodeIndex a, NodeIndex b) const;

  Scheduling& s_;
  Bytes shared_bytes_, fusable_bytes_;
};

}  // namespace jointer::kernels
