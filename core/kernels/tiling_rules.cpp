// The tiles in which a generated kernel works. A kernel whose accesses advance along two dimensions
// gets two-dimensional tiles, and then fuses only with kernels that fit them.
//
// Source: torch/_inductor/codegen/simd.py (`SIMDScheduling.can_fuse`, `candidate_tilings`,
// `select_tiling`, `get_first_compatible_tiling`), config.triton.tiling_prevents_*.

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/kernels/fusion_rules.h"
#include "core/kernels/loop_index.h"

namespace jointer::kernels {

namespace {

constexpr std::int64_t kGoodSize = 32;  // is_good_size: a multiple of it

}  // namespace

// Two-dimensional tiles are for accesses that advance by 1 along a loop, and also advance along a
// loop inside it.
FusionRules::Tiling FusionRules::tiling(std::span<const OpId> ops) const {
  struct Candidate {
    Tiling tiling;
    std::int64_t score;
  };
  std::vector<Candidate> candidates;
  std::vector<BufferId> seen;
  std::int64_t numel = 1;
  bool has_none = false;
  for (const OpId id : ops) {
    const OpLoops& loops = s_.loops(id);
    numel = loops.numel;
    const std::size_t count = loops.loops.size();
    if (count <= 1) continue;
    // One-dimensional tiles, which precede other tiles with the same score.
    if (!std::exchange(has_none, true)) candidates.push_back({{numel, 0}, 0});
    const auto consider = [&](AccessId access, bool is_write) {
      if (!s_.table.is_memory(access)) return;
      const Sizes strides = strides_of(s_.table[access].access.index, count);
      const auto first = std::find(strides.begin(), strides.end(), 1);
      if (first == strides.end() || first + 1 == strides.end()) return;
      if (std::all_of(first + 1, strides.end(), [](std::int64_t each) { return each == 0; }))
        return;
      const auto split = static_cast<std::size_t>(first - strides.begin()) + 1;
      const std::span<const std::int64_t> sizes(loops.loops);
      const Tiling tiles{product(sizes.first(split)), product(sizes.subspan(split))};
      std::int64_t score = is_write ? 2 : 1;
      for (std::size_t i = 0; i < count; ++i)
        if (strides[i] != 0) score *= sizes[i];
      for (const std::int64_t size : {tiles.outer, tiles.inner})
        if (size % kGoodSize == 0) score *= 2;
      if (score < numel) return;
      const BufferId buffer = s_.table.buffer(access);
      if (std::find(seen.begin(), seen.end(), buffer) != seen.end()) return;
      seen.push_back(buffer);
      candidates.push_back({tiles, score});
    };
    for (const AccessId access : loops.reads)
      consider(access, std::any_of(loops.writes.begin(), loops.writes.end(), [&](AccessId write) {
                 return s_.table.buffer(write) == s_.table.buffer(access);
               }));
    for (const AccessId access : loops.writes) consider(access, true);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  for (const Candidate& each : candidates) {
    if (each.tiling.inner == 0) break;
    if (std::all_of(ops.begin(), ops.end(), [&](OpId id) {
          return split_into(s_.loops(id).loops, each.tiling.outer, each.tiling.inner);
        }))
      return each.tiling;
  }
  return {numel, 0};
}

bool FusionRules::tilings_fit(NodeIndex a, NodeIndex b) const {
  const Tiling first = tiling(s_.node(a).ops), second = tiling(s_.node(b).ops);
  if (first.inner == 0 && second.inner == 0) return true;
  SmallVector<OpId, 4> both = s_.node(a).ops;
  both.insert(both.end(), s_.node(b).ops.begin(), s_.node(b).ops.end());
  const Tiling joined = tiling(both);
  return (first.inner == 0 || first == joined) && (second.inner == 0 || second == joined);
}

}  // namespace jointer::kernels
