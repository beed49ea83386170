// Mix-order reductions: two reductions over different dimensions of the same data, which one kernel
// computes.

#include <algorithm>
#include <utility>

#include "core/base/index.h"
#include "core/kernels/fusion_rules.h"
#include "core/kernels/loop_index.h"

namespace jointer::kernels {

namespace {

constexpr std::int64_t kMinElements = 5 << 20;  // smaller data stays in the L2 cache
constexpr std::int64_t kMinRows = 4096;
constexpr std::int64_t kMaxRow = 16 * 1024;  // longer rows get no persistent reduction
constexpr std::size_t kMaxReads = 10;        // mix_order_reduction_max_reads
constexpr TorchVersion kAnyRatio{2, 12};

}  // namespace

bool FusionRules::is_split(NodeIndex id) const {
  if (!s_.node(id).is_reduction) return false;
  for (const OpId op : s_.node(id).ops)
    if (s_.is_reduction(op) && s_.op(op).split == 0) return false;
  return true;
}

FusionRules::Extent FusionRules::extent(NodeIndex id) const {
  const SchedulerNode& node = s_.node(id);
  if (is_split(id))
    for (const OpId op : node.ops)
      if (s_.is_reduction(op))
        return {product(s_.op(op).unsplit_loops), product(s_.op(op).unsplit_reduced)};
  return {node.numel, node.rnumel};
}

bool FusionRules::is_full_read(BufferId buffer, NodeIndex id) const {
  const SchedulerNode& node = s_.node(id);
  const OpLoops& loops = s_.loops(node.ops.front());
  const std::size_t count = loops.loops.size() + loops.reduced.size();
  if (count == 0) return false;
  for (const AccessId access : node.reads) {
    if (s_.table.buffer(access) != buffer || !s_.table.is_memory(access)) continue;
    const Access& read = s_.table[access].access;
    bool uses_all = true;
    for (std::size_t loop = 0; loop < count; ++loop)
      uses_all = uses_all && uses_loop(read.index, loop);
    return uses_all || product(read.sizes) == product(loops.loops) * product(loops.reduced);
  }
  return false;
}

// Inductor looks for the name in the ops' code, where a buffer that was changed in place still has
// its first name. It finds no reads of the new name, and assumes that they are contiguous.
bool FusionRules::is_contiguous_read(BufferId buffer, NodeIndex id) const {
  if (s_.real(buffer) != buffer) return true;
  for (const OpId op : s_.node(id).ops) {
    const OpLoops& loops = s_.loops(op);
    const std::size_t count = loops.loops.size() + loops.reduced.size();
    if (count == 0) continue;
    for (const AccessId access : loops.reads) {
      if (s_.table.buffer(access) != buffer || !s_.table.is_memory(access)) continue;
      const std::int64_t stride = strides_of(s_.table[access].access.index, count).back();
      if (stride != 0 && stride != 1) return false;
    }
  }
  return true;
}

bool FusionRules::is_contiguous_node(NodeIndex id) const {
  const AccessIds& reads = s_.node(id).reads;
  return std::all_of(reads.begin(), reads.end(), [&](AccessId access) {
    return is_contiguous_read(s_.table.buffer(access), id);
  });
}

bool FusionRules::can_cross(NodeIndex id) const {
  for (const OpId op : s_.node(id).ops) {
    if (!s_.is_reduction(op)) continue;
    const Op& each = s_.op(op);
    if (each.ir != "Reduction:sum" && each.ir != "Reduction:prod") return false;
    if (!s_.has(kAnyRatio) || each.outputs.empty()) continue;
    const DType type = s_.buffer(each.outputs.front()).dtype;
    if (type != DType::float16 && type != DType::bfloat16 && type != DType::float32) return false;
  }
  return true;
}

bool FusionRules::is_mix_order(NodeIndex a, NodeIndex b) {
  const SchedulerNode &first = s_.node(a), &second = s_.node(b);
  if (!first.is_reduction || !second.is_reduction || !first.is_on_gpu || !second.is_on_gpu)
    return false;
  const Extent one = extent(a), other = extent(b);
  if (one.numel != other.rnumel || one.rnumel != other.numel) return false;
  if (one == other && !s_.has(kAnyRatio)) return false;
  if (s_.is_before(a, b) || s_.is_before(b, a)) return false;
  std::vector<BufferId> common;
  for (const BufferId id : first.used)
    if (std::find(second.used.begin(), second.used.end(), id) != second.used.end() &&
        is_full_read(id, a) && is_full_read(id, b))
      common.push_back(id);
  if (common.empty()) return false;
  NodeIndex contiguous = a, crossing = b;
  if (!is_contiguous_node(a)) {
    if (!is_contiguous_node(b)) return false;
    std::swap(contiguous, crossing);
  }
  const Extent rows = extent(contiguous);
  if (rows.numel * rows.rnumel < kMinElements || rows.numel < kMinRows) return false;
  if (!s_.has(kAnyRatio) && rows.numel < 2 * rows.rnumel) return false;
  if (one == other && std::none_of(common.begin(), common.end(), [&](BufferId id) {
        return is_contiguous_read(id, a) != is_contiguous_read(id, b);
      }))
    return false;
  if (rows.rnumel > kMaxRow || is_split(contiguous)) return false;
  return can_cross(crossing);
}

bool FusionRules::joins_mix_order(NodeIndex mix, NodeIndex other) {
  std::vector<BufferId> reads;
  for (const NodeIndex id : {mix, other})
    for (const OpId op : s_.node(id).ops)
      for (const AccessId access : s_.loops(op).reads)
        if (s_.table.is_memory(access)) reads.push_back(s_.table.buffer(access));
  std::sort(reads.begin(), reads.end());
  reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  if (reads.size() > kMaxReads) return false;
  const NodeIndex contiguous = s_.node(mix).contiguous, crossing = s_.node(mix).crossing;
  if (!s_.node(other).is_mix_order())
    return joins_part(mix, contiguous, other, {crossing}) ||
           joins_part(mix, crossing, other, {contiguous});
  return joins_part(mix, contiguous, s_.node(other).contiguous,
                    {crossing, s_.node(other).crossing}) &&
         joins_part(mix, crossing, s_.node(other).crossing, {});
}

// True if `other` can be fused with `part` of the mix-order reduction `mix`:
//  - the rules for any two nodes allow it;
//  - `other` reads along the rows if `part` does, or else its reductions may run across them;
//  - neither depends on one of `others`, nor the reverse;
//  - if `other` reduces, it shares with `part` at least as many elements as the rows have.
bool FusionRules::joins_part(NodeIndex mix, NodeIndex part, NodeIndex other,
                             std::vector<NodeIndex> others) {
  if (!can_fuse_tracked(part, other, false, false)) return false;
  if (is_contiguous_node(part) ? !is_contiguous_node(other) : !can_cross(other)) return false;
  for (const NodeIndex own : {part, other})
    for (const NodeIndex each : others)
      if (s_.is_before(each, own) || s_.is_before(own, each)) return false;
  if (!s_.node(other).is_reduction) return true;
  const Extent rows = extent(s_.node(mix).contiguous);
  return shared_elements(part, other) >= rows.numel * rows.rnumel;
}

}  // namespace jointer::kernels
