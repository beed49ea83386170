// Improves a plan tensor by tensor until it meets a limit, or for as long as it meets one.
//
// Terms
//   move     a kind of change: recompute values that are live at the peak, most bytes per
//            microsecond first; or save recomputed values, fewest bytes per microsecond first.
//   prefix   the first values of that list, changed together.
//
// Until a limit is met: find the shortest prefix that meets it by doubling and halving. If the
// whole list does not, continue from the best prefix found, with the list of the plan that it
// gives, since the peak may have moved. For as long as a limit holds: find the longest prefix for
// which it holds, skip the value that broke it, and continue with the rest of the list.
//
// A longer prefix is not always better (a chain may need what was freed). The figures of every
// accepted plan are therefore computed, and the best plan found is returned: a limit reported as
// met is met.
//
// Cost: about log2(values) plans per round, and a few rounds.
//
// Deviation: torch's budget counts the bytes of saved tensors and the time of single operators.
// Here a plan is judged by the peak and the time of the step.

#include "core/partition/plan_tuning.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/partition/recompute_tags.h"

namespace jointer {
namespace {

constexpr int kRounds = 24;

// `least` returns the smallest n in 1..count for which `holds(n)` is true, or nullopt; if true for
// one n, it must be true for all larger n. `most` returns the largest such n, or 0; if true for one
// n, it must be true for all smaller n. Both double n, then bisect.
template <class Holds>
std::optional<std::size_t> least(std::size_t count, const Holds& holds) {
  std::size_t low = 0, high = 1;
  while (!holds(high)) {
    if (high == count) return std::nullopt;
    low = high;
    high = std::min(2 * high, count);
  }
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}
template <class Holds>
std::size_t most(std::size_t count, const Holds& holds) {
  const auto first_that_fails = least(count, [&](std::size_t n) { return !holds(n); });
  return first_that_fails ? *first_that_fails - 1 : count;
}

}  // namespace

PlanTuning::Move PlanTuning::to_lower_peak() const {
  const auto nodes = [this](const SavePlan& plan) {
    std::vector<NodeId> found;
    const auto profile = what_if_.profile(plan);
    if (!profile || profile->empty()) return found;
    const auto peak = std::max_element(profile->begin(), profile->end()) - profile->begin();
    const auto alive = what_if_.saved_at(plan, static_cast<std::size_t>(peak));
    if (!alive) return found;
    for (const SaveCandidate& each : *alive)
      if (each.keep == Keep::save && each.chain > 0 && each.bytes > 0 &&
          !is_kept(joint_.node(each.node)))
        found.push_back(each.node);
    return found;
  };
  return {nodes, Keep::recompute, &Figures::peak_bytes};
}

PlanTuning::Move PlanTuning::to_speed_up() const {
  const auto nodes = [this](const SavePlan& plan) {
    std::vector<NodeId> found;
    auto all = what_if_.candidates(plan);
    if (!all) return found;
    std::erase_if(*all, [&](const SaveCandidate& each) {
      return each.keep != Keep::recompute || each.recompute_ns == 0 ||
             joint_.node(each.node).policy == MemoryPolicy::must_recompute;
    });
    std::stable_sort(all->begin(), all->end(), [](const SaveCandidate& a, const SaveCandidate& b) {
      return bytes_per_us(a) < bytes_per_us(b);
    });
    for (const SaveCandidate& each : *all) found.push_back(each.node);
    return found;
  };
  return {nodes, Keep::save, &Figures::step_ns};
}

Result<TunedPlan> PlanTuning::changed(const TunedPlan& from, const std::vector<NodeId>& nodes,
                                      std::size_t count, Keep keep) const {
  JOINTER_TRY(PlanChange change,
              what_if_.change_all(from.plan, std::span(nodes).first(count), keep));
  JOINTER_TRY(const PlanFigures figures, what_if_.figures(change.plan));
  return TunedPlan{std::move(change.plan), figures};
}

TunedPlan PlanTuning::until(TunedPlan from, const Move& move, const Holds& enough) const {
  const auto aim = [&](const TunedPlan& plan) { return plan.figures.figures.*move.aim; };
  for (int round = 0; round < kRounds && !enough(from.figures.figures) && go_on_(); ++round) {
    const std::vector<NodeId> nodes = move.nodes(from.plan);
    if (nodes.empty()) break;
    TunedPlan best = from;
    std::optional<TunedPlan> enough_of;
    (void)least(nodes.size(), [&](std::size_t count) {
      auto tried = go_on_() ? changed(from, nodes, count, move.keep) : from;
      if (!tried) return false;
      if (aim(*tried) < aim(best)) best = *tried;
      if (!enough(tried->figures.figures)) return false;
      enough_of = std::move(*tried);
      return true;
    });
    if (enough_of) return *std::move(enough_of);
    if (aim(best) >= aim(from)) break;
    from = std::move(best);
  }
  return from;
}

TunedPlan PlanTuning::as_long_as(TunedPlan from, const Move& move, const Holds& allowed) const {
  const auto aim = [&](const TunedPlan& plan) { return plan.figures.figures.*move.aim; };
  TunedPlan best = from;
  std::set<NodeId> passed_over;
  for (int round = 0; round < kRounds && go_on_(); ++round) {
    std::vector<NodeId> nodes = move.nodes(from.plan);
    std::erase_if(nodes, [&](NodeId id) { return passed_over.contains(id); });
    if (nodes.empty()) break;
    std::optional<TunedPlan> longest;
    const std::size_t count = most(nodes.size(), [&](std::size_t n) {
      auto tried = go_on_() ? changed(from, nodes, n, move.keep) : from;
      if (!tried || !allowed(tried->figures.figures)) return false;
      if (aim(*tried) < aim(best)) best = *tried;
      longest = std::move(*tried);
      return true;
    });
    if (count == nodes.size() && longest && longest->plan == from.plan) break;
    if (count < nodes.size()) passed_over.insert(nodes[count]);
    if (longest) from = *std::move(longest);
  }
  return best;
}

TunedPlan PlanTuning::lower_peak_until(TunedPlan from, const Holds& enough) const {
  return until(std::move(from), to_lower_peak(), enough);
}
TunedPlan PlanTuning::lower_peak_while(TunedPlan from, const Holds& allowed) const {
  return as_long_as(std::move(from), to_lower_peak(), allowed);
}
TunedPlan PlanTuning::speed_up_until(TunedPlan from, const Holds& enough) const {
  return until(std::move(from), to_speed_up(), enough);
}
TunedPlan PlanTuning::speed_up_while(TunedPlan from, const Holds& allowed) const {
  return as_long_as(std::move(from), to_speed_up(), allowed);
}

}  // namespace jointer
