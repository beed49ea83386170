#include "core/partition/hidden_shares.h"

#include <algorithm>

#include "core/base/checked.h"

namespace jointer {
namespace {

std::string_view group_name(const Graph& graph, GroupId group) {
  return group ? graph.text(graph.group(group).name) : std::string_view();
}

// The fraction of the time that is hidden; 0 if there is no time.
double hidden_part(const GroupTimes& times) {
  if (times.total_ns <= 0) return 0;
  const auto exposed = static_cast<double>(times.exposed_ns);
  return std::clamp(1 - exposed / static_cast<double>(times.total_ns), 0.0, 1.0);
}

// The additional communication may be a small part of all, and its hidden fraction then depends on
// details of two orders. If an order hides nearly all communication, it is expected to hide all.
double share_of(const GroupTimes& whole, const GroupTimes& additional) {
  constexpr double kNearlyAll = 0.9;
  const double part = std::max(hidden_part(additional), hidden_part(whole));
  return part >= kNearlyAll ? 1 : part;
}

}  // namespace

GroupTimesByName group_times(const Graph& graph, const Simulation& step) {
  GroupTimesByName times;
  for (const CollectiveTiming& each : step.collectives()) {
    if (each.is_transfer) continue;
    GroupTimes& group = times[std::string(group_name(graph, each.group))];
    group.total_ns = saturating_add(group.total_ns, each.end_ns - each.start_ns);
    group.exposed_ns = saturating_add(group.exposed_ns, each.exposed_ns);
  }
  return times;
}

GroupTimesByName in_groups_of(const Graph& graph, const GroupTimesByName& times) {
  // The longest name of a group with which `name` begins; `name` itself if there is none.
  const auto known = [&](std::string_view name) {
    std::string_view longest;
    for (std::size_t i = 0; i < graph.group_count(); ++i)
      if (const std::string_view each = group_name(graph, GroupId(i));
          name.starts_with(each) && each.size() > longest.size())
        longest = each;
    return std::string(longest.empty() ? name : longest);
  };
  GroupTimesByName sums;
  for (const auto& [name, each] : times) {
    GroupTimes& sum = sums[known(name)];
    sum.total_ns = saturating_add(sum.total_ns, each.total_ns);
    sum.exposed_ns = saturating_add(sum.exposed_ns, each.exposed_ns);
  }
  return sums;
}

HiddenShares::HiddenShares(const GroupTimesByName& less, const GroupTimesByName& more) {
  GroupTimes all;
  for (const auto& [name, times] : more) {
    GroupTimes additional = times;
    if (const auto found = less.find(name); found != less.end()) {
      additional.total_ns -= found->second.total_ns;
      additional.exposed_ns -= found->second.exposed_ns;
    }
    if (additional.total_ns <= 0) continue;
    by_group_[name] = share_of(times, additional);
    all.total_ns = saturating_add(all.total_ns, additional.total_ns);
    all.exposed_ns = saturating_add(all.exposed_ns, additional.exposed_ns);
  }
  rest_ = hidden_part(all);
}

HiddenShares HiddenShares::raised(double fraction) const {
  HiddenShares shares = *this;
  const auto raise = [&](double& share) {
    if (share > 0) share += (1 - share) * fraction;
  };
  for (auto& [name, share] : shares.by_group_) raise(share);
  raise(shares.rest_);
  return shares;
}

bool HiddenShares::hides_nothing() const {
  return rest_ == 0 &&
         std::ranges::all_of(by_group_, [](const auto& each) { return each.second == 0; });
}

double HiddenShares::of(std::string_view group) const {
  const auto found = by_group_.find(group);
  return found == by_group_.end() ? rest_ : found->second;
}

Result<HiddenShares> SharedHidden::get(const std::function<Result<HiddenShares>()>& find) {
  const std::lock_guard lock(mutex_);
  if (!found_) {
    JOINTER_TRY(found_, find());
  }
  return *found_;
}

std::vector<NodeCost> with_hidden_communication(const Graph& graph, std::span<const NodeCost> costs,
                                                const HiddenShares& hidden) {
  std::vector<NodeCost> rest(costs.begin(), costs.end());
  for (const NodeId id : graph.order()) {
    NodeCost& cost = rest[id.index()];
    if (cost.lane == NodeCost::Lane::collective)
      cost.ns = saturating_whole(static_cast<double>(cost.ns) *
                                 (1 - hidden.of(group_name(graph, graph.node(id).group))));
  }
  return rest;
}

}  // namespace jointer
