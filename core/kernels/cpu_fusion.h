#pragma once

// The rules of Inductor's C++ backend: which nodes on the CPU may become one kernel.
//
// Two nodes can run in one loop nest in three cases: their loops are equal; the outer loops of the
// first are the outer and the reduced loops of the second; or they are pointwise ops of one shape,
// one of which has merged all its loops while the other could not. In the last case, the loops are
// merged anew. A node and its reader may also share only their outer loops, with a nest for each
// inside; such pairs are tried only if no other pair can be fused.
//
// Source: torch/_inductor/codegen/cpp.py (`CppScheduling`: `can_fuse_horizontal`,
// `can_fuse_vertical`, `_why_fuse_nodes`, `_can_fuse_nodes_with_compatible_ranges`,
// `_align_compatible_range_nodes`, `_get_outer_loop_fusion_depth`, `get_fusion_pair_priority`,
// `fuse`; `OuterLoopFusedSchedulerNode`), torch/_inductor/config.py (`cpp`).
// Deviation: templates are not modeled.

#include <cstdint>
#include <vector>

#include "core/kernels/scheduling.h"

namespace jointer::kernels {

class CpuFusion {
 public:
  explicit CpuFusion(Scheduling& scheduling) : s_(scheduling) {}

  // True if two nodes that read the same data may become one nest of at most kMaxHorizontalOps ops.
  [[nodiscard]] bool can_fuse_horizontal(NodeIndex a, NodeIndex b) const;
  [[nodiscard]] bool can_fuse_vertical(NodeIndex a, NodeIndex b) const;
  // True if the nodes may share only their outer loops. Such a pair is tried only when no other
  // pair can be fused.
  [[nodiscard]] bool shares_outer_loops(NodeIndex a, NodeIndex b) const;
  NodeIndex fuse(NodeIndex a, NodeIndex b);

  static constexpr std::size_t kMaxHorizontalOps = 16;  // max_horizontal_fusion_size

 private:
  using Loops = Sizes;
  // The merged loops of two pointwise nodes that get one nest.
  struct Aligned {
    OpId changed = -1, other = -1;  // -1: no change
    Loops loops;
  };

  [[nodiscard]] bool have_one_nest(NodeIndex a, NodeIndex b) const;
  [[nodiscard]] bool have_equal_loops(NodeIndex a, NodeIndex b) const;
  [[nodiscard]] bool align(NodeIndex a, NodeIndex b, Aligned& aligned) const;
  [[nodiscard]] Loops merged(OpId op, const std::vector<Index>& with) const;
  [[nodiscard]] std::size_t outer_depth(NodeIndex a, NodeIndex b) const;
  [[nodiscard]] const Loops& outer(NodeIndex id) const { return s_.loops(leader(id)).loops; }
  [[nodiscard]] const Loops& reduced(NodeIndex id) const { return s_.loops(leader(id)).reduced; }
  [[nodiscard]] OpId leader(NodeIndex id) const { return s_.node(id).leader; }

  Scheduling& s_;
};

}  // namespace jointer::kernels
