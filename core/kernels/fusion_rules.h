#pragma once

// The rules that decide whether two scheduler nodes may become one kernel, the reasons if they may
// not, and how much data a fusion saves.
//
// Source: torch._inductor.scheduler (`Scheduler.can_fuse`, `can_fuse_vertical`,
// `fusable_read_and_write`, `fusable_weak_dep`, `score_fusion_memory`,
// `can_fusion_increase_peak_memory`, `will_fusion_create_cycle`, `MixOrderReduction`,
// `FusedMixOrderReductions`), choices (`InductorChoices.can_fuse`, `can_fuse_horizontal`) and
// codegen.simd (`SIMDScheduling.can_fuse`), with the default settings.
//
// Versions between 2.11 and 2.15 follow the rules of 2.15.
//
// Deviations:
// - Nested and staged reductions (torch 2.15: one reduces groups of the elements that the other
//   normalizes, as in block-wise quantization) are not fused.
// - No prologue is fused into a template; none of the templates that are modeled allows it.
// - CUDA streams are not modeled.
//
// Ops on the CPU follow cpu_fusion.h where the backend decides.

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/kernels/cpu_fusion.h"
#include "core/kernels/kernels.h"
#include "core/kernels/loop_changes.h"
#include "core/kernels/scheduling.h"

namespace jointer::kernels {

class FusionRules {
 public:
  explicit FusionRules(Scheduling& scheduling);

  // True if the nodes may become one kernel. May change the loops of pointwise nodes
  // (loop_changes.h): with `invert` and `regroup` since torch 2.12, and with `reorder_or_regroup`
  // if `may_change_loops`. The changes stay if the result is true, in torch 2.11 in any case.
  bool can_fuse(NodeIndex a, NodeIndex b, bool may_change_loops);
  // True if fusing the nodes would create a cycle: a path leads from one to the other through a
  // third node, which has several ops.
  bool would_cycle(NodeIndex a, NodeIndex b);
  // Makes one node of two that can be fused.
  NodeIndex fuse(NodeIndex a, NodeIndex b);
  // True if the pair is tried only when no other pair can be fused.
  [[nodiscard]] bool is_last_choice(NodeIndex a, NodeIndex b) const {
    return !s_.node(a).is_on_gpu && cpu_.shares_outer_loops(a, b);
  }
  // The bytes that a fusion saves; for a mix-order reduction, the number of elements.
  std::int64_t score(NodeIndex a, NodeIndex b);
  // True if `a` defines the buffer of `access`, a weak read of `b`; `b` changes a buffer in place
  // with one write that uses all its loops; and `a` reads that buffer in the same pattern or not at
  // all.
  bool is_fusable_weak(AccessId access, NodeIndex a, NodeIndex b);

  [[nodiscard]] const std::vector<RefusedPair>& refused() const { return refused_; }
  [[nodiscard]] const std::array<std::int32_t, kRefusalCount>& counts() const { return counts_; }

 private:
  struct Extent {
    std::int64_t numel, rnumel;
    bool operator==(const Extent&) const = default;
  };

  bool refuse(Refusal refusal, NodeIndex a, NodeIndex b);
  bool can_fuse_tracked(NodeIndex a, NodeIndex b, bool may_change_loops, bool allow_mix);
  bool can_fuse_plain(NodeIndex a, NodeIndex b, bool may_change_loops, bool allow_mix,
                      SavedLoops& saved);
  bool can_fuse_vertical(NodeIndex a, NodeIndex b);
  bool can_fuse_horizontal(NodeIndex a, NodeIndex b, std::int64_t score);
  bool backend_can_fuse(NodeIndex a, NodeIndex b);
  bool joins_mix_order(NodeIndex mix, NodeIndex other);
  bool joins_part(NodeIndex mix, NodeIndex part, NodeIndex other, std::vector<NodeIndex> others);
  std::int64_t shared_bytes(NodeIndex a, NodeIndex b, bool allow_mix);
  std::int64_t shared_elements(NodeIndex a, NodeIndex b);
  std::int64_t fusable_bytes(NodeIndex a, NodeIndex b);
  bool is_fusable(AccessId read, AccessId write);
  [[nodiscard]] bool computes_fraction(NodeIndex a, NodeIndex b) const;
  // Tiles of `outer` x `inner` iterations; one-dimensional if `inner` is 0.
  struct Tiling {
    std::int64_t outer = 0, inner = 0;
    bool operator==(const Tiling&) const = default;
  };
  [[nodiscard]] Tiling tiling(std::span<const OpId> ops) const;
  [[nodiscard]] bool tilings_fit(NodeIndex a, NodeIndex b) const;
  bool foreach_can_fuse(NodeIndex a, NodeIndex b);
  NodeIndex fuse_foreach(NodeIndex a, NodeIndex b);
  // The last part of a foreach kernel that reads a result of `maker`, and the only part of which
  // `reader` reads a result; -1 if there is none.
  [[nodiscard]] NodeIndex reading_part(NodeIndex all, NodeIndex maker) const;
  [[nodiscard]] NodeIndex read_part(NodeIndex all, NodeIndex reader) const;
  [[nodiscard]] bool can_end_template(NodeIndex id) const;
  bool increases_peak(NodeIndex a, NodeIndex b);
  // The data type and the size of a buffer that only one node reads.
  struct ReuseKey {
    DType dtype = DType::float32;
    std::int64_t elements = 0;
    bool operator==(const ReuseKey&) const = default;
  };
  using ReuseKeys = SmallVector<ReuseKey, 8>;
  [[nodiscard]] ReuseKeys reuse_keys(NodeIndex id) const;

  bool is_mix_order(NodeIndex a, NodeIndex b);
  [[nodiscard]] bool is_split(NodeIndex id) const;
  [[nodiscard]] Extent extent(NodeIndex id) const;
  [[nodiscard]] bool is_full_read(BufferId buffer, NodeIndex id) const;
  [[nodiscard]] bool is_contiguous_node(NodeIndex id) const;
  [[nodiscard]] bool is_contiguous_read(BufferId buffer, NodeIndex id) const;
  [[nodiscard]] bool can_cross(NodeIndex id) const;

  Scheduling& s_;
  LoopChanges changes_;
  CpuFusion cpu_;
  std::vector<RefusedPair> refused_;
  std::array<std::int32_t, kRefusalCount> counts_{};
  // A bit for each op whose node has several ops, by chunk of AncestorSets.
  std::vector<AncestorSets::Chunk> is_fused_;
  std::vector<NodeIndex> pending_;  // scratch for `would_cycle`
  std::vector<std::int32_t> seen_;  // by node: the last search of `would_cycle` that visited it
  std::int32_t visit_ = 0;
};

}  // namespace jointer::kernels
