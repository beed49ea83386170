// Foreach kernels: one kernel for a list of tensors, with a part for each. They fuse part by part.
// Source: torch._inductor.scheduler (`ForeachKernelSchedulerNode`).

#include <algorithm>
#include <utility>

#include "core/base/index.h"
#include "core/kernels/fusion_rules.h"

namespace jointer::kernels {

NodeIndex FusionRules::reading_part(NodeIndex all, NodeIndex maker) const {
  for (const BufferId output : s_.node(maker).outputs) {
    // The last part that reads `output`.
    const std::vector<NodeIndex>& parts = s_.node(all).parallel;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
      if (std::any_of(s_.node(*part).reads.begin(), s_.node(*part).reads.end(),
                      [&](AccessId read) { return s_.table.buffer(read) == output; }))
        return *part;
  }
  return -1;
}

NodeIndex FusionRules::read_part(NodeIndex all, NodeIndex reader) const {
  NodeIndex found = -1;
  for (const AccessId read : s_.node(reader).reads)
    for (const NodeIndex part : s_.node(all).parallel) {
      if (part == found || !s_.defines(part, s_.table.buffer(read))) continue;
      if (found >= 0) return -1;
      found = part;
    }
  return found;
}

bool FusionRules::foreach_can_fuse(NodeIndex a, NodeIndex b) {
  const SchedulerNode &first = s_.node(a), &second = s_.node(b);
  if (!first.is_foreach() && first.is_reduction) return false;
  if (!second.is_foreach() && second.is_reduction) return false;
  if (!second.is_foreach()) {
    const NodeIndex part = read_part(a, b);
    return part >= 0 && can_fuse_tracked(part, b, false, true);
  }
  if (!first.is_foreach()) {
    const NodeIndex part = reading_part(b, a);
    return part >= 0 && can_fuse_tracked(a, part, false, true);
  }
  const std::vector<NodeIndex> own = first.parallel, theirs = second.parallel;
  if (own.size() != theirs.size()) return false;
  // A part may depend only on its own partner.
  for (std::size_t i = 0; i < theirs.size(); ++i)
    for (const AccessId access : s_.node(theirs[i]).unmet)
      for (std::size_t j = 0; j < own.size(); ++j)
        if (i != j && s_.defines(own[j], s_.table.buffer(access))) return false;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (!can_fuse_tracked(own[i], theirs[i], false, true)) return false;
  return true;
}

NodeIndex FusionRules::fuse_foreach(NodeIndex a, NodeIndex b) {
  std::vector<NodeIndex> parts;
  if (s_.node(a).is_foreach() && s_.node(b).is_foreach()) {
    const std::vector<NodeIndex> own = s_.node(a).parallel, theirs = s_.node(b).parallel;
    for (std::size_t i = 0; i < own.size(); ++i) parts.push_back(s_.make_fused(own[i], theirs[i]));
  } else {
    const bool is_first = s_.node(a).is_foreach();
    parts = s_.node(is_first ? a : b).parallel;
    const NodeIndex changed = is_first ? read_part(a, b) : reading_part(b, a);
    const NodeIndex fused = is_first ? s_.make_fused(changed, b) : s_.make_fused(a, changed);
    std::replace(parts.begin(), parts.end(), changed, fused);
  }
  return s_.make_foreach(std::move(parts));
}

}  // namespace jointer::kernels
