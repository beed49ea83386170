// Compares two lists of kernels.
//
// Steps
//   1. Kernels with the same nodes are equal. Several kernels with the same nodes, such as the two
//      layers of a split reduction, are paired in order.
//   2. The others are linked if a node runs in just one of them on each side. A kernel without such
//      a node, in which only cheap nodes run that others compute too, is linked to the one with
//      which it shares the most nodes. Linked kernels are one difference; the numbers of kernels
//      on both sides tell its kind.
//   3. Kernels whose nodes are unknown, such as those of Inductor's own passes, are paired with
//      unlinked kernels of the same kind and bytes, in order.
//   4. Equal kernels that are not on a longest increasing subsequence of the second list's order
//      run at another place.
//   5. A difference belongs to the rule of the most frequent reason that the second list states for
//      not fusing kernels of the difference or, if it states none, that the first list states.

#include "core/kernels/kernel_differences.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/base/checked.h"
#include "core/base/index.h"
#include "core/base/longest_increasing.h"

namespace jointer::kernels {
namespace {

using DifferenceKind = KernelDifference::Kind;

enum Side : std::size_t { kFirst, kSecond };

bool is_compared(Kernel::Kind kind) {
  return is_launch(kind) || kind == Kernel::Kind::wait;
}

KernelComparison::Figures figures_of(const KernelList& list) {
  KernelComparison::Figures figures;
  figures.peak = list.peak;
  for (const ListedKernel& kernel : list.kernels) {
    if (!is_launch(kernel.kind)) continue;
    ++figures.kernels;
    figures.bytes = saturating_add(figures.bytes, kernel.bytes);
  }
  return figures;
}

// Disjoint sets of numbers.
class LinkedSets {
 public:
  explicit LinkedSets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t find(std::size_t item) {
    while (parent_[item] != item) item = parent_[item] = parent_[parent_[item]];
    return item;
  }
  // The smaller number represents the set.
  void link(std::size_t a, std::size_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

class Comparer {
 public:
  Comparer(const KernelList& first, const KernelList& second) : lists_{&first, &second} {
    for (const Side side : {kFirst, kSecond})
      for (const ListedKernel& kernel : list(side).kernels) {
        std::vector<NodeId>& sorted = nodes_[side].emplace_back(kernel.nodes);
        std::sort(sorted.begin(), sorted.end());
        sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
      }
  }

  KernelComparison run() {
    made_.first = figures_of(list(kFirst));
    made_.second = figures_of(list(kSecond));
    pair_equal();
    link_others();
    pair_unknown();
    add_groups();
    compare_equal();
    count_nodes();
    sort_rules();
    return std::move(made_);
  }

 private:
  [[nodiscard]] const KernelList& list(Side side) const { return *lists_[side]; }
  [[nodiscard]] const ListedKernel& kernel(Side side, std::int32_t index) const {
    return list(side).kernels[as_index(index)];
  }
  [[nodiscard]] const std::vector<NodeId>& nodes(Side side, std::int32_t index) const {
    return nodes_[side][as_index(index)];
  }
  [[nodiscard]] std::vector<std::int32_t> compared(Side side) const {
    std::vector<std::int32_t> indices;
    for (std::size_t i = 0; i < list(side).kernels.size(); ++i)
      if (is_compared(list(side).kernels[i].kind)) indices.push_back(static_cast<std::int32_t>(i));
    return indices;
  }

  void pair_equal() {
    std::map<std::vector<NodeId>, std::vector<std::int32_t>> by_nodes;
    std::vector<std::int32_t> seconds = compared(kSecond);
    for (auto at = seconds.rbegin(); at != seconds.rend(); ++at)
      if (!nodes(kSecond, *at).empty()) by_nodes[nodes(kSecond, *at)].push_back(*at);
    std::set<std::int32_t> paired;
    for (const std::int32_t index : compared(kFirst)) {
      const auto same = by_nodes.find(nodes(kFirst, index));
      if (same == by_nodes.end() || same->second.empty()) {
        others_[kFirst].push_back(index);
        continue;
      }
      pairs_.emplace_back(index, same->second.back());
      paired.insert(same->second.back());
      same->second.pop_back();
    }
    for (const std::int32_t index : seconds)
      if (!paired.contains(index)) others_[kSecond].push_back(index);
  }

  // The number in `sets_` of a kernel without an equal one.
  [[nodiscard]] std::size_t number(Side side, std::size_t position) const {
    return side == kFirst ? position : others_[kFirst].size() + position;
  }

  void link_others() {
    sets_.emplace(others_[kFirst].size() + others_[kSecond].size());
    std::unordered_map<NodeId, std::array<std::vector<std::size_t>, 2>> runs_in;
    for (const Side side : {kFirst, kSecond})
      for (std::size_t i = 0; i < others_[side].size(); ++i)
        for (const NodeId node : nodes(side, others_[side][i])) runs_in[node][side].push_back(i);
    std::array<std::vector<bool>, 2> is_linked{std::vector<bool>(others_[kFirst].size()),
                                               std::vector<bool>(others_[kSecond].size())};
    for (const auto& [node, at] : runs_in) {
      if (at[kFirst].size() != 1 || at[kSecond].size() != 1) continue;
      for (const Side side : {kFirst, kSecond}) is_linked[side][at[side].front()] = true;
      sets_->link(number(kFirst, at[kFirst].front()), number(kSecond, at[kSecond].front()));
    }
    for (const Side side : {kFirst, kSecond})
      for (std::size_t i = 0; i < others_[side].size(); ++i) {
        if (is_linked[side][i]) continue;
        const Side across = side == kFirst ? kSecond : kFirst;
        std::map<std::size_t, int> shared;
        for (const NodeId node : nodes(side, others_[side][i]))
          for (const std::size_t other : runs_in[node][across]) ++shared[other];
        const auto largest =
            std::max_element(shared.begin(), shared.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        if (largest != shared.end()) sets_->link(number(side, i), number(across, largest->first));
      }
  }

  struct Group {
    std::array<std::vector<std::int32_t>, 2> kernels;
  };

  void pair_unknown() {
    for (const Side side : {kFirst, kSecond})
      for (std::size_t i = 0; i < others_[side].size(); ++i)
        groups_[sets_->find(number(side, i))].kernels[side].push_back(others_[side][i]);
    Seconds seconds;
    for (const auto& [key, group] : groups_) {
      const auto& [first, second] = group.kernels;
      if (first.empty() && second.size() == 1)
        seconds[trait(kSecond, second.front())].push_back(key);
    }
    for (auto at = groups_.begin(); at != groups_.end();) {
      const auto& [first, second] = at->second.kernels;
      const auto partner =
          first.size() == 1 && second.empty() ? take_partner(first.front(), seconds) : std::nullopt;
      if (!partner) {
        ++at;
        continue;
      }
      const auto other = groups_.find(*partner);
      pairs_.emplace_back(first.front(), other->second.kernels[kSecond].front());
      groups_.erase(other);
      at = groups_.erase(at);
    }
    std::sort(pairs_.begin(), pairs_.end());
  }

  // The kind and the bytes of a kernel, and whether its nodes are known.
  using Trait = std::tuple<Kernel::Kind, std::int64_t, bool>;
  [[nodiscard]] Trait trait(Side side, std::int32_t index) const {
    return {kernel(side, index).kind, kernel(side, index).bytes, !nodes(side, index).empty()};
  }
  // By trait of the kernel: the keys of groups that consist of one kernel of the second list,
  // ascending.
  using Seconds = std::map<Trait, std::deque<std::size_t>>;

  // Removes and returns the first key whose kernel has the same kind and bytes as kernel `index` of
  // the first list, if the nodes of one of the two are unknown.
  [[nodiscard]] std::optional<std::size_t> take_partner(std::int32_t index,
                                                        Seconds& seconds) const {
    const auto [kind, bytes, is_known] = trait(kFirst, index);
    std::deque<std::size_t>* from = nullptr;
    for (const bool has_nodes : {false, true}) {
      const auto found = seconds.find(Trait(kind, bytes, has_nodes));
      if ((is_known && has_nodes) || found == seconds.end() || found->second.empty()) continue;
      if (from == nullptr || found->second.front() < from->front()) from = &found->second;
    }
    if (from == nullptr) return std::nullopt;
    const std::size_t key = from->front();
    from->pop_front();
    return key;
  }

  // By side, the reasons why kernels of a group were not fused, with their counts.
  using Reasons = std::array<std::map<std::string, int>, 2>;

  std::map<std::size_t, Reasons> reasons_of_groups() const {
    std::map<std::size_t, Reasons> reasons;
    for (const Side side : {kFirst, kSecond}) {
      std::unordered_map<std::int32_t, std::size_t> group_of;
      for (const auto& [key, group] : groups_)
        for (const std::int32_t index : group.kernels[side]) group_of[index] = key;
      for (const ListedRefusal& refusal : list(side).refused) {
        const auto a = group_of.find(refusal.first), b = group_of.find(refusal.second);
        if (a != group_of.end() && b != group_of.end() && a->second == b->second)
          ++reasons[a->second][side][refusal.reason];
      }
    }
    return reasons;
  }

  static std::string most_frequent(const std::map<std::string, int>& reasons) {
    const auto largest =
        std::max_element(reasons.begin(), reasons.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return largest == reasons.end() ? std::string() : largest->first;
  }

  void add_groups() {
    const std::map<std::size_t, Reasons> reasons = reasons_of_groups();
    for (const auto& [key, group] : groups_) {
      const auto& [first, second] = group.kernels;
      DifferenceRule rule;
      if (second.empty())
        rule.kind = DifferenceKind::only_first;
      else if (first.empty())
        rule.kind = DifferenceKind::only_second;
      else if (first.size() == 1 && second.size() > 1)
        rule.kind = DifferenceKind::split;
      else if (second.size() == 1 && first.size() > 1)
        rule.kind = DifferenceKind::merged;
      else
        rule.kind = DifferenceKind::regrouped;
      if (const auto given = reasons.find(key); given != reasons.end())
        for (const auto& [side, name] :
             {std::pair{kSecond, ListSide::second}, std::pair{kFirst, ListSide::first}}) {
          if (!rule.reason.empty()) break;
          rule.reason = most_frequent(given->second[side]);
          if (!rule.reason.empty()) rule.refused_by = name;
        }
      add(std::move(rule), first, second);
    }
  }

  static DifferenceRule rule_of(DifferenceKind kind) {
    DifferenceRule rule;
    rule.kind = kind;
    return rule;
  }

  void compare_equal() {
    made_.equal_kernels = static_cast<std::int64_t>(pairs_.size());
    std::vector<std::int32_t> order;
    for (const auto& [a, b] : pairs_) {
      order.push_back(b);
      if (kernel(kFirst, a).kind != kernel(kSecond, b).kind)
        add(rule_of(DifferenceKind::other_kind), {a}, {b});
      else if (kernel(kFirst, a).bytes != kernel(kSecond, b).bytes)
        add(rule_of(DifferenceKind::other_bytes), {a}, {b});
    }
    std::vector<bool> is_in_order(order.size(), false);
    for (const std::size_t i : longest_increasing(order)) is_in_order[i] = true;
    for (std::size_t i = 0; i < order.size(); ++i)
      if (!is_in_order[i])
        add(rule_of(DifferenceKind::order), {pairs_[i].first}, {pairs_[i].second});
  }

  void add(DifferenceRule rule, std::vector<std::int32_t> first, std::vector<std::int32_t> second) {
    KernelDifference difference;
    difference.kind = rule.kind;
    const auto take = [&](Side side, const std::vector<std::int32_t>& indices,
                          std::int64_t& bytes) {
      for (const std::int32_t index : indices) {
        bytes = saturating_add(bytes, kernel(side, index).bytes);
        difference.nodes.insert(difference.nodes.end(), nodes(side, index).begin(),
                                nodes(side, index).end());
      }
    };
    take(kFirst, first, difference.first_bytes);
    take(kSecond, second, difference.second_bytes);
    std::sort(difference.nodes.begin(), difference.nodes.end());
    difference.nodes.erase(std::unique(difference.nodes.begin(), difference.nodes.end()),
                           difference.nodes.end());
    difference.first = std::move(first);
    difference.second = std::move(second);
    const auto known =
        std::find_if(made_.rules.begin(), made_.rules.end(), [&](const DifferenceRule& each) {
          return each.kind == rule.kind && each.refused_by == rule.refused_by &&
                 each.reason == rule.reason;
        });
    const auto index = static_cast<std::size_t>(known - made_.rules.begin());
    if (known == made_.rules.end()) made_.rules.push_back(std::move(rule));
    DifferenceRule& counted = made_.rules[index];
    ++counted.count;
    counted.first_bytes = saturating_add(counted.first_bytes, difference.first_bytes);
    counted.second_bytes = saturating_add(counted.second_bytes, difference.second_bytes);
    difference.rule = index;
    made_.differences.push_back(std::move(difference));
  }

  void count_nodes() {
    std::set<NodeId> all, elsewhere;
    for (const Side side : {kFirst, kSecond}) {
      for (const std::int32_t index : compared(side))
        all.insert(nodes(side, index).begin(), nodes(side, index).end());
      for (const auto& [key, group] : groups_)
        for (const std::int32_t index : group.kernels[side])
          elsewhere.insert(nodes(side, index).begin(), nodes(side, index).end());
    }
    made_.nodes = static_cast<std::int64_t>(all.size());
    made_.nodes_elsewhere = static_cast<std::int64_t>(elsewhere.size());
  }

  void sort_rules() {
    std::vector<std::size_t> order(made_.rules.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const DifferenceRule &x = made_.rules[a], &y = made_.rules[b];
      return std::tie(y.count, x.kind, x.refused_by, x.reason) <
             std::tie(x.count, y.kind, y.refused_by, y.reason);
    });
    std::vector<std::size_t> place(order.size());
    std::vector<DifferenceRule> sorted;
    for (const std::size_t old : order) {
      place[old] = sorted.size();
      sorted.push_back(std::move(made_.rules[old]));
    }
    made_.rules = std::move(sorted);
    for (KernelDifference& each : made_.differences) each.rule = place[each.rule];
    const auto key = [](const KernelDifference& each) {
      return std::tuple(each.rule, each.first.empty() ? each.second.front() : each.first.front(),
                        each.second.empty() ? -1 : each.second.front());
    };
    std::stable_sort(made_.differences.begin(), made_.differences.end(),
                     [&](const auto& a, const auto& b) { return key(a) < key(b); });
  }

  std::array<const KernelList*, 2> lists_;
  std::array<std::vector<std::vector<NodeId>>, 2> nodes_;     // by kernel, sorted
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs_;  // equal kernels
  std::array<std::vector<std::int32_t>, 2> others_;           // kernels without an equal one
  std::optional<LinkedSets> sets_;
  std::map<std::size_t, Group> groups_;  // by the number of a member
  KernelComparison made_;
};

}  // namespace

KernelComparison compare_kernels(const KernelList& first, const KernelList& second) {
  return Comparer(first, second).run();
}

std::string name_of(KernelDifference::Kind kind, std::string_view first, std::string_view second) {
  switch (kind) {
    case DifferenceKind::split:
      return "split";
    case DifferenceKind::merged:
      return "merged";
    case DifferenceKind::regrouped:
      return "regrouped";
    case DifferenceKind::only_first:
      return fmt::format("only_{}", first);
    case DifferenceKind::only_second:
      return fmt::format("only_{}", second);
    case DifferenceKind::other_kind:
      return "other_kind";
    case DifferenceKind::other_bytes:
      return "other_bytes";
    case DifferenceKind::order:
      break;
  }
  return "order";
}

std::string to_text(const DifferenceRule& rule, std::string_view first, std::string_view second) {
  std::string text;
  switch (rule.kind) {
    case DifferenceKind::split:
      text = fmt::format("one kernel of {} is several of {}", first, second);
      break;
    case DifferenceKind::merged:
      text = fmt::format("several kernels of {} are one of {}", first, second);
      break;
    case DifferenceKind::regrouped:
      text = "nodes grouped into kernels differently";
      break;
    case DifferenceKind::only_first:
      text = fmt::format("kernels that only {} has", first);
      break;
    case DifferenceKind::only_second:
      text = fmt::format("kernels that only {} has", second);
      break;
    case DifferenceKind::other_kind:
      text = "the same nodes in a kernel of another kind";
      break;
    case DifferenceKind::other_bytes:
      text = "the same nodes, but a different number of bytes";
      break;
    case DifferenceKind::order:
      text = "the same nodes, but at another place in the order";
      break;
  }
  if (rule.refused_by == ListSide::neither) return text;
  return fmt::format("{}; not fused by {}: {}", text,
                     rule.refused_by == ListSide::first ? first : second, rule.reason);
}

}  // namespace jointer::kernels
