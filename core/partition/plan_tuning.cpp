// Improves a plan tensor by tensor until it meets a limit, or for as long as the limit holds.
//
// Terms
//   move     a kind of change. To lower the peak: recompute, then offload values that are live at
//            the peak, most bytes per microsecond first. To speed up: save recomputed values, save
//            offloaded values, then offload recomputed values, fewest bytes per microsecond first.
//   prefix   the first values of a move's sorted list, changed together.
//
// Until a limit is met: find the shortest prefix that meets it by doubling and halving. If the
// whole list does not, continue from the best prefix found, with the list of the resulting plan,
// since the peak may have moved. For as long as a limit holds: find the longest prefix for which it
// holds, skip the value that broke it, and continue with the rest of the list.
//
// A longer prefix is not always better (a chain may need what was freed). The estimates of every
// accepted plan are therefore computed, and the best plan found is returned: a limit that is
// reported as met is met.
//
// Cost: at most about 2 log2(values) plans per round, and 24 rounds per move.
//
// Deviation: torch's budget counts the bytes of saved tensors and the time of single operators.
// Here a plan is judged by the peak and the time of the step.

#include "core/partition/plan_tuning.h"

#include <algorithm>
#include <set>

#include "core/partition/bisect.h"

namespace jointer {
namespace {

constexpr int kTuningRounds = 24;

}  // namespace

std::vector<PlanTuning::Move> PlanTuning::moves(std::int64_t Figures::*aim) {
  if (aim == &Figures::peak_bytes)
    return {{PlanAction::save, PlanAction::recompute, aim},
            {PlanAction::save, PlanAction::offload, aim}};
  return {{PlanAction::recompute, PlanAction::save, aim},
          {PlanAction::offload, PlanAction::save, aim},
          {PlanAction::recompute, PlanAction::offload, aim}};
}

std::vector<NodeId> PlanTuning::nodes(const SavePlan& plan, const Move& move) const {
  std::vector<NodeId> found;
  const bool at_peak = move.aim == &Figures::peak_bytes;
  auto all = what_if_.candidates(plan);
  if (at_peak) {
    const auto profile = what_if_.profile(plan);
    if (!profile || profile->empty()) return found;
    const auto peak = std::max_element(profile->begin(), profile->end()) - profile->begin();
    all = what_if_.saved_at(plan, static_cast<std::size_t>(peak));
  }
  if (!all) return found;
  std::erase_if(*all, [&](const SaveCandidate& each) {
    if (each.action != move.from || !options_.rules.may_change(each, move.to)) return true;
    if (at_peak) return each.bytes == 0;
    return move.from == PlanAction::recompute && each.recompute_ns == 0;
  });
  if (!at_peak)
    std::stable_sort(all->begin(), all->end(), [](const SaveCandidate& a, const SaveCandidate& b) {
      return bytes_per_us(a) < bytes_per_us(b);
    });
  for (const SaveCandidate& each : *all) found.push_back(each.node);
  return found;
}

Result<EvaluatedPlan> PlanTuning::changed(const EvaluatedPlan& from,
                                          const std::vector<NodeId>& nodes, std::size_t count,
                                          PlanAction action) {
  JOINTER_TRY(PlanChange change,
              what_if_.change_all(from.plan, std::span(nodes).first(count), action));
  std::optional<Result<EvaluatedPlan>> judged;
  if (!is_over_) judged = options_.evaluate(std::move(change.plan));
  is_over_ = !judged;
  if (is_over_) return fail(Error::Kind::cancelled, "the search is over");
  return *std::move(judged);
}

EvaluatedPlan PlanTuning::until(EvaluatedPlan from, const Move& move, const Holds& enough) {
  const auto aim = [&](const EvaluatedPlan& plan) { return plan.figures.figures.*move.aim; };
  for (int round = 0; round < kTuningRounds && !enough(from.figures.figures) && !is_over_;
       ++round) {
    const std::vector<NodeId> nodes = this->nodes(from.plan, move);
    if (nodes.empty()) break;
    EvaluatedPlan best = from;
    std::optional<EvaluatedPlan> enough_of;
    (void)first_that_holds(nodes.size(), [&](std::size_t count) {
      auto tried = changed(from, nodes, count, move.to);
      if (!tried) return is_over_;
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

EvaluatedPlan PlanTuning::as_long_as(EvaluatedPlan from, const Move& move, const Holds& allowed) {
  const auto aim = [&](const EvaluatedPlan& plan) { return plan.figures.figures.*move.aim; };
  EvaluatedPlan best = from;
  std::set<NodeId> skipped;
  for (int round = 0; round < kTuningRounds && !is_over_; ++round) {
    std::vector<NodeId> nodes = this->nodes(from.plan, move);
    std::erase_if(nodes, [&](NodeId id) { return skipped.contains(id); });
    if (nodes.empty()) break;
    std::optional<EvaluatedPlan> longest;
    const std::size_t count = last_that_holds(nodes.size(), [&](std::size_t n) {
      auto tried = changed(from, nodes, n, move.to);
      if (!tried || !allowed(tried->figures.figures)) return false;
      if (aim(*tried) < aim(best)) best = *tried;
      longest = std::move(*tried);
      return true;
    });
    if (count == nodes.size() && longest && longest->plan == from.plan) break;
    if (count < nodes.size()) skipped.insert(nodes[count]);
    if (longest) from = *std::move(longest);
  }
  return best;
}

EvaluatedPlan PlanTuning::lower_until(EvaluatedPlan from, std::int64_t Figures::*aim,
                                      const Holds& enough) {
  for (const Move& move : moves(aim)) from = until(std::move(from), move, enough);
  return from;
}
EvaluatedPlan PlanTuning::lower_while(EvaluatedPlan from, std::int64_t Figures::*aim,
                                      const Holds& allowed) {
  for (const Move& move : moves(aim)) from = as_long_as(std::move(from), move, allowed);
  return from;
}

}  // namespace jointer
