// Changes single decisions of a plan until no change makes it better.
//
// Terms
//   change   another decision for one value: save, recompute or offload it.
//   group    the changes of one kind to values of one operator and size: in a graph of equal
//            layers, one per layer. Their effects are alike, except where the peak is.
//   outcome  of a change: it is impossible, makes the step too long or the peak too high for a
//            better plan, is no better, or is better.
//
// Steps
//   1. Try the groups by kind (save recomputed values, save offloaded values, offload recomputed
//      values, then the opposite changes, the last first), and in each kind by the most time of
//      recomputation per byte.
//   2. In a group, try the first and the last change and the one in the middle, and divide the
//      parts whose ends differ in their outcome. Continue from a better plan immediately: try the
//      rest of the part together, since equal layers often change together.
//   3. If a group improved the plan, try all groups again. If none did and `all` is set, also try
//      each change of the groups in which a change makes the peak too high, since the bytes that a
//      change adds at the peak depend on its position. If there are few changes, try each change of
//      all groups.
//
// In the end, unless the caller has ended the search, no change makes the plan better, except
// possibly a few that differ from their neighbors in a group of many similar changes.
//
// Changes that are likely to be tried next are judged on other threads at the same time. Their
// outcomes are used in order, so the result does not depend on the number of threads.
//
// Cost: a few plans for each group, and for each better plan; most are rejected by their time or by
// the bytes that they save, before their memory is computed.

#include "core/partition/plan_descent.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "core/base/parallel.h"

namespace jointer {
namespace {

constexpr std::size_t kBatch = 16;  // maximum number of changes that are judged at once

// The rank of a kind of change: lower ranks are tried first.
int rank(PlanAction from, PlanAction to) {
  if (to == PlanAction::save) return from == PlanAction::recompute ? 0 : 1;
  if (from == PlanAction::recompute) return 2;
  return from == PlanAction::offload ? 3 : to == PlanAction::offload ? 4 : 5;
}

}  // namespace

std::vector<PlanDescent::Group> PlanDescent::groups(const SavePlan& plan) const {
  const auto candidates = what_if_.candidates(plan);
  if (!candidates) return {};
  struct RankedGroup {
    double gain = 0;  // the most time per byte
    Group changes;
  };
  std::map<std::tuple<int, std::string_view, std::int64_t>, RankedGroup> found;
  for (const SaveCandidate& each : *candidates)
    for (const PlanAction to : {PlanAction::save, PlanAction::offload, PlanAction::recompute}) {
      if (!options_.rules.may_change(each, to)) continue;
      const Node& node = joint_.node(each.node);
      RankedGroup& group =
          found[{rank(each.action, to), joint_.target(node), joint_.output_bytes(node)}];
      group.gain = std::max(group.gain, 1 / std::max(bytes_per_us(each), 1e-9));
      group.changes.push_back({each.node, to});
    }
  std::vector<std::pair<int, RankedGroup*>> sorted;
  for (auto& [key, group] : found) sorted.emplace_back(std::get<0>(key), &group);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, -a.second->gain) < std::pair(b.first, -b.second->gain);
  });
  std::vector<Group> groups;
  for (auto& [kind, group] : sorted) groups.push_back(std::move(group->changes));
  return groups;
}

PlanDescent::Judged PlanDescent::judge(std::span<const Change> changes) const {
  std::vector<NodeId> nodes;
  for (const Change& each : changes) nodes.push_back(each.node);
  auto changed = what_if_.change_all(best_.plan, nodes, changes.front().to);
  if (!changed) return {Outcome::impossible, {}};
  // A plan that exceeds these bounds cannot be better.
  const Figures& now = best_.figures.figures;
  Figures bounds = now;
  if (limit_.holds(now))
    bounds.*limit_.limited = limit_.value;
  else
    bounds.*limit_.minimized = std::numeric_limits<std::int64_t>::max();
  const auto figures = what_if_.figures_within(changed->plan, bounds);
  if (!figures) return {Outcome::impossible, {}};
  if (figures->exceeds == PlanWhatIf::Exceeds::step) return {Outcome::longer, {}};
  if (figures->exceeds == PlanWhatIf::Exceeds::peak) return {Outcome::higher, {}};
  if (!limit_.is_better(figures->figures.figures, now)) return {Outcome::no_better, {}};
  return {Outcome::better, EvaluatedPlan{std::move(changed->plan), figures->figures}};
}

// Continues from the judged plan if it is better. Returns its outcome.
PlanDescent::Outcome PlanDescent::take(Judged& judged) {
  const Outcome outcome = judged.outcome;
  if (judged.plan) {
    best_ = *std::move(judged.plan);
    known_.clear();
  }
  return outcome;
}

PlanDescent::Outcome PlanDescent::attempt(const Change& change) {
  is_over_ = is_over_ || !options_.go_on();
  if (is_over_) return Outcome::impossible;
  if (const auto known = known_.find(change); known != known_.end()) return take(known->second);
  std::vector<Change> batch{change};
  if (const auto at = std::find(expected_.begin(), expected_.end(), change); at != expected_.end())
    expected_.erase(expected_.begin(), at + 1);
  for (const Change& each : expected_) {
    if (batch.size() == kBatch) break;
    if (!known_.contains(each)) batch.push_back(each);
  }
  std::vector<Judged> judged(batch.size());
  const std::size_t first_better = first_true(batch.size(), [&](std::size_t i) {
    judged[i] = judge({&batch[i], 1});
    return judged[i].outcome == Outcome::better;
  });
  for (std::size_t i = 0; i < std::min(first_better + 1, batch.size()); ++i)
    known_.emplace(batch[i], std::move(judged[i]));
  return take(known_.at(change));
}

PlanDescent::Outcome PlanDescent::attempt_together(std::span<const Change> changes) {
  is_over_ = is_over_ || !options_.go_on();
  if (is_over_) return Outcome::impossible;
  Judged judged = judge(changes);
  return take(judged);
}

bool PlanDescent::improve_by(std::span<const Group> groups, Tried tried) {
  const Group& group = groups.front();
  expected_.clear();
  for (const Group& each : groups) {
    if (expected_.size() > kBatch) break;
    expected_.insert(expected_.end(), {each.front(), each.back(), each[(each.size() - 1) / 2]});
  }
  std::vector<Outcome> outcomes(group.size(), Outcome::unknown);
  bool is_better = false;
  const auto outcome = [&](std::size_t i) {
    if (outcomes[i] == Outcome::unknown) outcomes[i] = attempt(group[i]);
    is_better = is_better || outcomes[i] == Outcome::better;
    return outcomes[i];
  };
  std::vector<std::pair<std::size_t, std::size_t>> parts{{0, group.size() - 1}};
  bool is_whole = true;
  while (!parts.empty() && !is_over_) {
    const auto [first, last] = parts.back();
    parts.pop_back();
    const bool differ = outcome(first) != outcome(last) || outcome(first) == Outcome::better;
    if (last - first < 2 || (!differ && !std::exchange(is_whole, false))) continue;
    const std::size_t middle = first + (last - first) / 2;
    if (outcome(first) == Outcome::better) {
      const auto rest = std::span(group).subspan(first + 1, last - first - 1);
      if (attempt_together(rest) == Outcome::better) continue;
    }
    parts.emplace_back(middle, last);
    parts.emplace_back(first, middle);
  }
  const bool is_higher = std::ranges::find(outcomes, Outcome::higher) != outcomes.end();
  if (tried == Tried::all || (tried == Tried::most && is_higher)) {
    expected_.clear();
    for (std::size_t i = 0; i < group.size(); ++i)
      if (outcomes[i] == Outcome::unknown) expected_.push_back(group[i]);
    for (std::size_t i = 0; i < group.size() && !is_over_; ++i) (void)outcome(i);
  }
  return is_better;
}

EvaluatedPlan PlanDescent::improved(EvaluatedPlan from, const PlanLimit& limit, bool all) {
  if (from.plan != best_.plan || limit != limit_) known_.clear();
  best_ = std::move(from);
  limit_ = limit;
  is_over_ = false;
  for (bool whole = false; !is_over_;) {
    bool is_better = false;
    const std::vector<Group> found = groups(best_.plan);
    std::size_t changes = 0;
    for (const Group& group : found) changes += group.size();
    const Tried tried = !whole                           ? Tried::some
                        : changes <= options_.exhaustive ? Tried::all
                                                         : Tried::most;
    for (std::span<const Group> rest = found; !rest.empty() && !is_over_; rest = rest.subspan(1))
      is_better = improve_by(rest, tried) || is_better;
    if (!is_better && std::exchange(whole, all) == all) break;
  }
  return best_;
}

}  // namespace jointer
