#include "core/kernels/cpu_fusion.h"

#include <algorithm>
#include <utility>

#include "core/base/index.h"
#include "core/kernels/loop_index.h"

namespace jointer::kernels {

bool CpuFusion::have_equal_loops(NodeIndex a, NodeIndex b) const {
  if (outer(a) == outer(b) && reduced(a) == reduced(b)) return true;
  if (!reduced(a).empty()) return false;
  const Loops &whole = outer(a), &first = outer(b), &rest = reduced(b);
  return whole.size() == first.size() + rest.size() &&
         std::equal(first.begin(), first.end(), whole.begin()) &&
         std::equal(rest.begin(), rest.end(),
                    whole.begin() + static_cast<std::ptrdiff_t>(first.size()));
}

CpuFusion::Loops CpuFusion::merged(OpId op, const std::vector<Index>& with) const {
  const UnmergedLoops& own = s_.op(op).unmerged;
  std::vector<Index> positions = own.positions;
  positions.insert(positions.end(), with.begin(), with.end());
  Loops sizes;
  for (const std::size_t loop : own.order) sizes.push_back(own.loops[loop]);
  Loops result = merge_together(positions, own.order, sizes);
  erase_if(result, [](std::int64_t size) { return size == 0; });
  return result;
}

bool CpuFusion::align(NodeIndex a, NodeIndex b, Aligned& aligned) const {
  if (!reduced(a).empty() || !reduced(b).empty()) return false;
  if (outer(a).size() != 1 && outer(b).size() != 1) return false;
  if (product(outer(a)) != product(outer(b))) return false;
  const bool is_first = outer(a).size() < outer(b).size();
  const SchedulerNode& changed = s_.node(is_first ? a : b);
  const SchedulerNode& other = s_.node(is_first ? b : a);
  if (changed.is_fused()) return false;
  const UnmergedLoops& own = s_.op(changed.leader).unmerged;
  std::vector<Index> theirs;
  for (const OpId op : other.ops) {
    const UnmergedLoops& each = s_.op(op).unmerged;
    if (each.shape != own.shape) return false;
    theirs.insert(theirs.end(), each.positions.begin(), each.positions.end());
  }
  aligned.changed = changed.leader;
  aligned.loops = merged(changed.leader, theirs);
  if (aligned.loops == s_.loops(other.leader).loops) return true;
  // The loops of a node with several ops cannot change.
  if (other.is_fused()) return false;
  aligned.other = other.leader;
  return merged(other.leader, own.positions) == aligned.loops;
}

bool CpuFusion::have_one_nest(NodeIndex a, NodeIndex b) const {
  if (!s_.node(a).outer.empty() || !s_.node(b).outer.empty()) return false;
  Aligned aligned;
  return have_equal_loops(a, b) || align(a, b, aligned);
}

bool CpuFusion::can_fuse_horizontal(NodeIndex a, NodeIndex b) const {
  return s_.node(a).ops.size() + s_.node(b).ops.size() <= kMaxHorizontalOps && have_one_nest(a, b);
}

bool CpuFusion::can_fuse_vertical(NodeIndex a, NodeIndex b) const {
  return (!s_.node(a).is_reduction && have_one_nest(a, b)) || shares_outer_loops(a, b);
}

std::size_t CpuFusion::outer_depth(NodeIndex a, NodeIndex b) const {
  const SchedulerNode &first = s_.node(a), &second = s_.node(b);
  const NodeIndex before = first.outer.empty() ? a : first.outer.back();
  const NodeIndex after = second.outer.empty() ? b : second.outer.front();
  const Loops &own = outer(before), &theirs = outer(after);
  if (own.empty() && theirs.empty() && !reduced(before).empty() && !reduced(after).empty())
    return 0;
  if (!first.outer.empty() && !second.outer.empty())
    return first.outer_depth == second.outer_depth ? first.outer_depth : 0;
  const std::size_t depth = std::min(own.size(), theirs.size());
  if (!std::equal(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(depth), theirs.begin()))
    return 0;
  for (const SchedulerNode* each : {&first, &second})
    if (!each->outer.empty() && each->outer_depth != depth) return 0;
  return depth;
}

bool CpuFusion::shares_outer_loops(NodeIndex a, NodeIndex b) const {
  return s_.is_before(a, b) && (s_.node(a).is_reduction || !have_one_nest(a, b)) &&
         outer_depth(a, b) > 0;
}

NodeIndex CpuFusion::fuse(NodeIndex a, NodeIndex b) {
  Aligned aligned;
  if (have_equal_loops(a, b) || !align(a, b, aligned)) {
    const bool is_outer = shares_outer_loops(a, b);
    const std::size_t depth = is_outer ? outer_depth(a, b) : 0;
    const NodeIndex fused = s_.fuse(a, b);
    if (!is_outer) return fused;
    std::vector<NodeIndex> parts;
    for (const NodeIndex part : {a, b}) {
      const std::vector<NodeIndex>& inside = s_.node(part).outer;
      if (inside.empty())
        parts.push_back(part);
      else
        parts.insert(parts.end(), inside.begin(), inside.end());
    }
    s_.node(fused).outer = std::move(parts);
    s_.node(fused).outer_depth = depth;
    return fused;
  }
  s_.loops(aligned.changed).loops = aligned.loops;
  if (aligned.other >= 0) s_.loops(aligned.other).loops = aligned.loops;
  return s_.fuse(a, b);
}

}  // namespace jointer::kernels
