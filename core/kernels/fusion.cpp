#include "core/kernels/fusion.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "core/base/index.h"
#include "core/kernels/id_table.h"
#include "core/kernels/python_sort.h"

namespace jointer::kernels {

namespace {

constexpr int kRounds = 10;
constexpr std::size_t kPairs = 64;      // max_fusion_buffer_group_pairwise_attempts
constexpr std::int64_t kFarApart = 16;  // a score higher by this factor outweighs kind and place

struct PossibleFusion {
  NodeIndex first = -1, second = -1;
  int without_template = 0;
  int same_kind = 0;
  std::int64_t bytes = 0;
  std::int32_t proximity = 0;
};

bool is_less(const PossibleFusion& a, const PossibleFusion& b) {
  if (a.without_template != b.without_template) return a.without_template < b.without_template;
  if (std::max(a.bytes, b.bytes) > std::min(a.bytes, b.bytes) * kFarApart) return a.bytes < b.bytes;
  return std::tuple(a.same_kind, a.bytes, a.proximity) <
         std::tuple(b.same_kind, b.bytes, b.proximity);
}

// A set of pairs of nodes.
class PairSet {
 public:
  // True if the pair is new.
  bool add(NodeIndex a, NodeIndex b) {
    const auto key = static_cast<std::uint64_t>(a) << 32U | static_cast<std::uint64_t>(b);
    const std::size_t hash = (key ^ key >> 29U) * 0x9e3779b97f4a7c15ULL;
    const auto is_equal = [&](std::int32_t id) { return keys_[as_index(id)] == key; };
    if (ids_.find(hash, is_equal) >= 0) return false;
    ids_.add(hash);
    keys_.push_back(key);
    return true;
  }

 private:
  IdTable ids_;
  std::vector<std::uint64_t> keys_;
};

PossibleFusion scored(const Scheduling& s, FusionRules& rules, NodeIndex a, NodeIndex b) {
  const SchedulerNode &first = s.node(a), &second = s.node(b);
  PossibleFusion result{a, b, 0, 0, rules.score(a, b), 0};
  result.without_template = !first.is_template && result.bytes > 0 ? 1 : 0;
  result.same_kind = first.is_reduction == second.is_reduction && result.bytes > 0 ? 1 : 0;
  if (s.has({2, 13}) && first.is_reduction && second.is_reduction &&
      first.rnumel != second.rnumel && s.is_before(a, b))
    result.same_kind = -1;
  result.proximity = -std::max(std::abs(first.min_order - second.max_order),
                               std::abs(second.min_order - first.max_order));
  return result;
}

std::vector<PossibleFusion> possible_fusions(const Scheduling& s, FusionRules& rules,
                                             const std::vector<NodeIndex>& nodes,
                                             bool may_change_loops, CancellationPoll& poll) {
  std::vector<SmallVector<NodeIndex, 4>> groups;
  std::vector<std::int32_t> group_of(s.ir().buffers.size(), -1);
  for (const NodeIndex id : nodes) {
    if (s.node(id).is_extern) continue;
    for (const BufferId buffer : s.node(id).used) {
      std::int32_t& group = group_of[as_index(buffer)];
      if (group < 0) {
        group = static_cast<std::int32_t>(groups.size());
        groups.emplace_back();
      }
      groups[as_index(group)].push_back(id);
    }
  }
  std::vector<std::pair<NodeIndex, NodeIndex>> found;
  PairSet seen;
  for (const SmallVector<NodeIndex, 4>& group : groups)
    for (std::size_t i = 0; i < group.size(); ++i)
      for (std::size_t j = i + 1; j < std::min(group.size(), i + 1 + kPairs); ++j) {
        if (poll.is_cancelled_throttled()) return {};
        if (!seen.add(group[i], group[j])) continue;
        NodeIndex a = group[i], b = group[j];
        if (!rules.can_fuse(a, b, may_change_loops)) {
          // A template's epilogue, or a node that fuses with a foreach kernel, may precede that
          // kernel in the group.
          if (!s.node(b).is_template && !s.node(b).is_foreach()) continue;
          std::swap(a, b);
          if (!rules.can_fuse(a, b, may_change_loops)) continue;
        }
        // Torch 2.12 and later check for cycles only when the nodes are fused.
        if (s.has({2, 12}) || !rules.would_cycle(a, b)) found.emplace_back(a, b);
      }
  // On the CPU, pairs that share only their outer loops are dropped if there are others.
  const auto is_last = [&](const std::pair<NodeIndex, NodeIndex>& pair) {
    return rules.is_last_choice(pair.first, pair.second);
  };
  if (!std::all_of(found.begin(), found.end(), is_last)) std::erase_if(found, is_last);
  std::vector<PossibleFusion> result;
  result.reserve(found.size());
  for (const auto& [a, b] : found) result.push_back(scored(s, rules, a, b));
  // Like Python's sort with `reverse=True`: equal elements keep their order.
  std::reverse(result.begin(), result.end());
  python_sort(result, is_less);
  std::reverse(result.begin(), result.end());
  return result;
}

std::vector<NodeIndex> fuse_once(Scheduling& s, FusionRules& rules,
                                 const std::vector<NodeIndex>& nodes, bool may_change_loops,
                                 CancellationPoll& poll) {
  for (const NodeIndex id : nodes)
    s.prune_redundant(id, [&](AccessId access, NodeIndex before, NodeIndex after) {
      return rules.is_fusable_weak(access, before, after);
    });
  for (const PossibleFusion& each : possible_fusions(s, rules, nodes, may_change_loops, poll)) {
    if (poll.is_cancelled_throttled()) return {};
    const NodeIndex a = s.node_of(s.node(each.first).ops.front());
    const NodeIndex b = s.node_of(s.node(each.second).ops.front());
    if (rules.can_fuse(a, b, may_change_loops) && !rules.would_cycle(a, b)) rules.fuse(a, b);
  }
  std::vector<NodeIndex> left;
  std::vector<char> seen(s.node_count(), 0);
  for (const NodeIndex id : nodes)
    for (const OpId op : s.node(id).ops) {
      const NodeIndex now = s.node_of(op);
      if (std::exchange(seen[as_index(now)], 1) == 0) left.push_back(now);
    }
  std::sort(left.begin(), left.end(),
            [&](NodeIndex a, NodeIndex b) { return s.node(a).min_order < s.node(b).min_order; });
  return s.sorted(left);
}

}  // namespace

std::vector<NodeIndex> fuse_nodes(Scheduling& scheduling, FusionRules& rules,
                                  CancellationPoll& poll) {
  std::vector<NodeIndex> nodes = scheduling.first_order();
  for (int round = 0; round < kRounds; ++round) {
    const std::size_t before = nodes.size();
    nodes = fuse_once(scheduling, rules, nodes, false, poll);
    if (poll.is_cancelled()) return {};
    if (nodes.size() == before || nodes.size() == 1) break;
  }
  return fuse_once(scheduling, rules, nodes, true, poll);
}

}  // namespace jointer::kernels
