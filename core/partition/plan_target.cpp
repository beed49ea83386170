// Searches for the shortest list of changes that brings the peak of a plan within a limit and,
// among lists of equal length, for the one with the shortest step.
//
// Terms
//   move     a unit of values (a tensor, an operator, ...) and what it becomes (plan_moves.h).
//   choice   a set of moves of different units: a list. Its plan recomputes and offloads all of
//            its values at once, so it does not depend on the order of the list.
//   excess   the bytes of the peak above the limit.
//   relief   of a move: the bytes that it frees at the call where the peak is now, or, if
//            evaluating it is not worthwhile, the bytes that its values occupy there. A choice
//            whose reliefs do not add up to the excess cannot reach the limit.
//
// Every choice is judged by its complete step (PlanWhatIf); reliefs only rule choices out.
//
// Steps
//   1. Count: the smallest number of moves whose reliefs cover the excess. Find reliefs by
//      evaluating moves alone, with an eighth of the effort: first the moves with the largest
//      estimates, until no other move can have more relief, then the other moves.
//   2. Evaluate all choices of one move, of two, and so on, as long as these are few (a quarter of
//      the effort). If a size has more choices, evaluate those that the reliefs do not rule out
//      (half of the effort). The first size that has a solution is the answer, with its shortest
//      step. A size also has too many choices if there are too many beginnings of choices.
//   3. Otherwise grow one choice: evaluate a few of the moves with the most relief at its current
//      peak, and add the best one, until the limit holds. If many moves are needed, add several at
//      a time.
//   4. Polish it: drop each unnecessary move, then replace one or two moves with a random one, as
//      long as this helps, for the rest of the effort.
//   5. Order the list by relief, and evaluate the plan after each line.
// If the limit cannot be reached, steps 3 and 4 look for the lowest peak instead.
//
// Deviations from an exact search: several moves together may free more than the sum of their
// reliefs, if one shortens the chain of another. Recomputed values have no relief where the peak is
// in the forward, although offloading one may free what its chain reads.
//
// Cost: at most `effort` plans, plus the plan before any change and one for each line of the list;
// each round of step 3 also finds the values that are live at a peak (PlanWhatIf::saved_at). Step 2
// also visits at most kBeginnings beginnings of choices of each size, twice.

#include "core/partition/plan_target.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/counted.h"
#include "core/base/distinct_bytes.h"
#include "core/base/units.h"
#include "core/schedule/memory_walk.h"

namespace jointer {
namespace {

constexpr std::size_t kTried = 6;      // moves tried in each round, for each resulting action
constexpr std::size_t kRounds = 64;    // if more moves are needed, each round adds several
constexpr std::size_t kMeasured = 8;   // 1 / kMeasured of the effort may go into reliefs
constexpr int kStalls = 8;             // rounds in a row that do not lower the peak
constexpr std::size_t kMisses = 2000;  // replacements in a row that the reliefs rule out
constexpr std::size_t kBeginnings = 1'000'000;  // beginnings of choices, for each size

using Choice = std::vector<std::size_t>;  // indices of moves

struct JudgedChoice {
  Choice choice;
  SavePlan plan;
  PlanFigures figures;
  std::size_t peak_point = 0;
  bool peaks_in_backward = false;
  // Bytes live at the call where the peak was before any change; nullopt if that call no longer
  // runs.
  std::optional<std::int64_t> at_first_peak;

  [[nodiscard]] std::int64_t peak() const { return figures.figures.peak_bytes; }
};

// A point of a profile, identified by the call that runs there.
struct CallPoint {
  NodeId node;
  bool is_backward = false;
  std::size_t within = 0;  // 0 or 1: which of the two points of its step
};

// An outcome, and the step at which its backward starts.
struct Steps {
  explicit Steps(const PlanWhatIf::Outcome& of) : outcome(of), backward(of.forward_steps) {}

  // Returns nullopt for the first point, which is before any call.
  [[nodiscard]] std::optional<CallPoint> call_at(std::size_t point) const {
    if (point == 0) return std::nullopt;
    const std::size_t step = (point - 1) / 2;
    return CallPoint{outcome.steps[step], step >= backward, (point - 1) % 2};
  }
  // The minimum of live bytes at the points that `call` identifies; nullopt if there are none.
  // There may be several, since a copy to the host has the node of its value.
  [[nodiscard]] std::optional<std::int64_t> live_at(const CallPoint& call) const {
    std::optional<std::int64_t> live;
    const std::size_t end = call.is_backward ? outcome.steps.size() : backward;
    for (std::size_t step = call.is_backward ? backward : 0; step < end; ++step)
      if (outcome.steps[step] == call.node) {
        const std::int64_t here = outcome.profile[point_of_step(step) + call.within];
        live = std::min(live.value_or(here), here);
      }
    return live;
  }

  const PlanWhatIf::Outcome& outcome;
  std::size_t backward = 0;  // number of forward steps: its calls, and two per copy to the host
};

class Search {
 public:
  Search(const Graph& joint, const PlanWhatIf& what_if, const SavePlan& plan,
         const PlanTarget& target)
      : joint_(joint), what_if_(what_if), plan_(plan), target_(target) {}

  Result<ChangeList> run() {
    JOINTER_TRY(start_, judged({}, plan_));
    best_ = start_;
    ChangeList list;
    list.before = start_.figures;
    JOINTER_TRY(list.count, find_moves());
    if (excess_ > 0 && !find_exactly(list.count.needed_for(excess_))) {
      if (!holds(best_)) grow();
      polish();
    }
    if (is_cancelled_) return fail(Error::Kind::cancelled, "cancelled");
    list.is_reached = holds(best_);
    list.is_shortest = list.is_reached && best_.choice.size() <= smallest_;
    list.plan = best_.plan;
    list.figures = best_.figures;
    JOINTER_TRY(list.changes, lines());
    return list;
  }

 private:
  [[nodiscard]] bool holds(const JudgedChoice& each) const {
    return each.peak() <= target_.peak_bytes;
  }
  // Choices within the limit come first: the shorter list, then the shorter step. Then the others:
  // the lower peak, then the shorter list.
  [[nodiscard]] bool is_better(const JudgedChoice& a, const JudgedChoice& b) const {
    const auto key = [this](const JudgedChoice& each) {
      const auto size = static_cast<std::int64_t>(each.choice.size());
      const std::int64_t step = each.figures.figures.step_ns;
      return holds(each) ? std::tuple(0, size, step, each.peak())
                         : std::tuple(1, each.peak(), size, step);
    };
    return key(a) < key(b);
  }
  [[nodiscard]] std::size_t max_size() const {
    return std::min(target_.at_most.value_or(unit_count_), unit_count_);
  }
  [[nodiscard]] bool is_over() const { return is_cancelled_ || evaluated_ >= target_.effort; }

  [[nodiscard]] Result<JudgedChoice> judged(Choice choice, SavePlan plan) {
    JOINTER_TRY(const PlanWhatIf::Outcome outcome, what_if_.evaluate(plan));
    const auto& profile = outcome.profile;
    const auto point = static_cast<std::size_t>(std::max_element(profile.begin(), profile.end()) -
                                                profile.begin());
    const Steps steps(outcome);
    const auto call = steps.call_at(point);
    if (!first_peak_) first_peak_ = call;
    const auto at_first_peak = first_peak_ ? steps.live_at(*first_peak_) : std::nullopt;
    return JudgedChoice{.choice = std::move(choice),
                        .plan = std::move(plan),
                        .figures = outcome.figures,
                        .peak_point = point,
                        .peaks_in_backward = call && call->is_backward,
                        .at_first_peak = at_first_peak};
  }

  // Error (usage): none of the values to recompute, or none of those to offload, can be changed
  // (PlanWhatIf::change_all).
  [[nodiscard]] Result<SavePlan> plan_of(const Choice& choice) const {
    SavePlan plan = plan_;
    for (const PlanAction to : {PlanAction::recompute, PlanAction::offload}) {
      std::vector<NodeId> nodes;
      for (const std::size_t i : choice) {
        if (moves_[i].to != to) continue;
        const std::vector<NodeId> more = moves_[i].nodes();
        nodes.insert(nodes.end(), more.begin(), more.end());
      }
      if (nodes.empty()) continue;
      JOINTER_TRY(PlanChange change, what_if_.change_all(plan, nodes, to));
      plan = std::move(change.plan);
    }
    return plan;
  }

  // nullopt if the choice is refused or the search is over. Remembers the best choice.
  std::optional<JudgedChoice> judge(Choice choice) {
    is_cancelled_ = is_cancelled_ || (target_.go_on && !target_.go_on());
    if (is_over()) return std::nullopt;
    ++evaluated_;
    auto plan = plan_of(choice);
    if (!plan) return std::nullopt;
    auto found = judged(std::move(choice), *std::move(plan));
    if (!found) return std::nullopt;
    if (is_better(*found, best_)) best_ = *found;
    return *std::move(found);
  }

  // For each move, the bytes that its values occupy at the choice's peak; values that the plan
  // recomputes count at every peak in the backward.
  [[nodiscard]] Result<std::vector<std::int64_t>> reliefs(const JudgedChoice& at) const {
    JOINTER_TRY(const auto alive, what_if_.saved_at(at.plan, at.peak_point));
    std::set<NodeId> is_alive;
    for (const SaveCandidate& each : alive) is_alive.insert(each.node);
    std::vector<std::int64_t> found(moves_.size(), 0);
    for (std::size_t i = 0; i < moves_.size(); ++i)
      for (const SharedValues& each : moves_[i].values)
        if (moves_[i].from == PlanAction::recompute
                ? at.peaks_in_backward
                : std::ranges::any_of(each.nodes,
                                      [&](NodeId node) { return is_alive.contains(node); }))
          found[i] += each.bytes;
    return found;
  }

  Result<ChangeList::Count> find_moves() {
    excess_ = start_.peak() - target_.peak_bytes;
    JOINTER_TRY(const auto candidates, what_if_.candidates(plan_));
    moves_ = moves_of(joint_, candidates, target_.moves);
    std::set<std::size_t> all_units;
    for (const PlanMove& each : moves_) all_units.insert(each.unit);
    unit_count_ = all_units.size();
    JOINTER_TRY(relief_, reliefs(start_));
    measure_reliefs();
    sort_by_relief();
    ChangeList::Count count;
    std::set<std::size_t> units;
    for (const std::size_t i : by_relief_)
      if (relief_[i] > 0 && units.insert(moves_[i].unit).second) count.freed.push_back(relief_[i]);
    JOINTER_TRY(const auto alive, what_if_.saved_at(plan_, start_.peak_point));
    for (const SaveCandidate& each : alive)
      if (const Node& node = joint_.node(each.node);
          !allows(node.policy, PlanAction::recompute) && !allows(node.policy, PlanAction::offload))
        count.tagged += each.bytes;
    return count;
  }

  void sort_by_relief() {
    by_relief_.resize(moves_.size());
    std::iota(by_relief_.begin(), by_relief_.end(), std::size_t{0});
    std::ranges::stable_sort(by_relief_, std::greater(),
                             [this](std::size_t i) { return relief_[i]; });
  }

  // Evaluates moves alone to find their reliefs, starting with the moves that determine the count.
  void measure_reliefs() {
    if (excess_ <= 0) return;
    std::vector<bool> is_measured(moves_.size(), false);
    for (bool is_done = false; !is_done;) {
      sort_by_relief();
      is_done = true;
      std::set<std::size_t> units;
      std::int64_t missing = excess_;
      for (const std::size_t i : Choice(by_relief_)) {
        if ((missing <= 0 && !is_done) || relief_[i] == 0) break;
        if (units.insert(moves_[i].unit).second) missing -= relief_[i];
        if (is_measured[i]) continue;
        if (is_over() || evaluated_ >= target_.effort / kMeasured) return;
        is_measured[i] = true;
        is_done = false;
        const auto alone = judge({i});
        if (!alone)
          relief_[i] = 0;  // refused
        else if (alone->at_first_peak)
          relief_[i] = std::max<std::int64_t>(start_.peak() - *alone->at_first_peak, 0);
      }
    }
  }

  // Calls `use` with each choice of `size` moves, except those that the reliefs rule out if
  // `by_relief`. `use` returns false to stop. Returns false if it did, or if there are more than
  // kBeginnings beginnings of choices: most of these may have no end, and `use` does not see them.
  template <class Use>
  bool each_choice(std::size_t size, bool by_relief, const Use& use) const {
    std::vector<std::int64_t> relief_before{0};  // sum of the reliefs of the moves before each one
    for (const std::size_t i : by_relief_)
      relief_before.push_back(relief_before.back() + relief_[i]);
    Choice choice;
    std::set<std::size_t> units;
    std::size_t beginnings = 0;
    const auto extend = [&](auto& self, std::size_t from, std::int64_t missing) -> bool {
      if (choice.size() == size) return (by_relief && missing > 0) || use(std::as_const(choice));
      if (++beginnings > kBeginnings) return false;
      const std::size_t left = size - choice.size();
      for (std::size_t at = from; at + left <= by_relief_.size(); ++at) {
        const std::size_t i = by_relief_[at];
        if (by_relief && missing > relief_before[at + left] - relief_before[at]) break;
        if (!units.insert(moves_[i].unit).second) continue;
        choice.push_back(i);
        const bool goes_on = self(self, at + 1, missing - relief_[i]);
        choice.pop_back();
        units.erase(moves_[i].unit);
        if (!goes_on) return false;
      }
      return true;
    };
    return extend(extend, 0, excess_);
  }

  // Evaluates the choices that each_choice visits. Returns false if the search would then have
  // evaluated more than `effort` plans, or is over.
  bool try_all(std::size_t size, bool by_relief, std::size_t effort) {
    std::size_t quota = effort - std::min(effort, evaluated_);
    if (!each_choice(size, by_relief, [&](const Choice&) { return quota-- > 0; })) return false;
    each_choice(size, by_relief, [&](const Choice& choice) {
      (void)judge(choice);
      return !is_over();
    });
    return !is_over();
  }

  // Tries one size after another; returns false if there are too many choices. `needed`: the
  // smallest size that the reliefs allow.
  bool find_exactly(std::optional<std::size_t> needed) {
    bool tries_all = true;
    for (smallest_ = 1; smallest_ <= max_size(); ++smallest_) {
      tries_all = tries_all && try_all(smallest_, /*by_relief=*/false, target_.effort / 4);
      if (!tries_all) {
        smallest_ = std::max(smallest_, needed.value_or(moves_.size() + 1));
        if (smallest_ > max_size() || !try_all(smallest_, /*by_relief=*/true, target_.effort / 2))
          return false;
      }
      if (holds(best_)) return true;
    }
    return tries_all;
  }

  // The moves to try next, in groups of `batch`.
  [[nodiscard]] std::vector<Choice> next_moves(const JudgedChoice& from, std::size_t batch) const {
    const auto relief = reliefs(from);
    if (!relief) return {};
    std::set<std::size_t> units;
    for (const std::size_t i : from.choice) units.insert(moves_[i].unit);
    const std::int64_t excess = from.peak() - target_.peak_bytes;
    std::vector<Choice> groups;
    for (const PlanAction to : {PlanAction::recompute, PlanAction::offload}) {
      Choice sorted;
      for (std::size_t i = 0; i < moves_.size(); ++i)
        if (moves_[i].to == to && (*relief)[i] > 0 && !units.contains(moves_[i].unit))
          sorted.push_back(i);
      std::ranges::stable_sort(sorted, {}, [&](std::size_t i) {
        return std::pair(-std::min((*relief)[i], excess), moves_[i].recompute_ns());
      });
      for (std::size_t n = 0; n < kTried && n * batch < sorted.size(); ++n) {
        const auto first = sorted.begin() + static_cast<std::ptrdiff_t>(n * batch);
        const auto count = std::min(batch, sorted.size() - n * batch);
        groups.emplace_back(first, first + static_cast<std::ptrdiff_t>(count));
      }
    }
    return groups;
  }

  void grow() {
    JudgedChoice current = start_;
    const std::size_t batch = std::max<std::size_t>(1, std::min(smallest_, max_size()) / kRounds);
    for (int stalls = 0; stalls < kStalls && !holds(current);) {
      const std::size_t room = max_size() - current.choice.size();
      if (room == 0) return;
      std::optional<JudgedChoice> next;
      for (const Choice& more : next_moves(current, std::min(batch, room))) {
        Choice choice = current.choice;
        choice.insert(choice.end(), more.begin(), more.end());
        auto tried = judge(std::move(choice));
        if (tried && (!next || is_better(*tried, *next))) next = std::move(tried);
      }
      if (!next) return;
      stalls = next->peak() < current.peak() ? 0 : stalls + 1;
      current = *std::move(next);
    }
  }

  void polish() {
    JudgedChoice current = best_;
    for (std::size_t n = 0; n < current.choice.size();) {
      Choice without = current.choice;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(n));
      auto tried = judge(std::move(without));
      if (tried && is_better(*tried, current))
        current = *std::move(tried);
      else
        ++n;
    }
    const auto with_relief = static_cast<std::size_t>(
        std::ranges::count_if(relief_, [](std::int64_t bytes) { return bytes > 0; }));
    if (current.choice.empty() || with_relief == 0) return;
    std::mt19937_64 chance(1);
    std::size_t misses = 0;
    while (misses < kMisses && !is_over()) {
      Choice choice = current.choice;
      const std::size_t leaving = choice.size() > 1 && chance() % 4 == 0 ? 2 : 1;
      for (std::size_t n = 0; n < leaving; ++n)
        choice.erase(choice.begin() + static_cast<std::ptrdiff_t>(chance() % choice.size()));
      const std::size_t more = by_relief_[chance() % with_relief];
      if (std::ranges::any_of(choice,
                              [&](std::size_t i) { return moves_[i].unit == moves_[more].unit; }) ||
          (choice.push_back(more), holds(current) && relief_of(choice) < excess_)) {
        ++misses;
        continue;
      }
      misses = 0;
      if (auto tried = judge(std::move(choice)); tried && is_better(*tried, current))
        current = *std::move(tried);
    }
  }

  [[nodiscard]] std::int64_t relief_of(const Choice& choice) const {
    std::int64_t sum = 0;
    for (const std::size_t i : choice) sum += relief_[i];
    return sum;
  }

  Result<std::vector<ListedChange>> lines() {
    Choice& choice = best_.choice;
    std::ranges::sort(choice, {}, [this](std::size_t i) { return std::pair(-relief_[i], i); });
    JOINTER_TRY(const auto candidates, what_if_.candidates(best_.plan));
    std::map<NodeId, PlanAction> action;
    for (const SaveCandidate& each : candidates) action.emplace(each.node, each.action);
    std::vector<ListedChange> found;
    SavePlan plan = plan_;
    for (std::size_t n = 0; n < choice.size(); ++n) {
      PlanMove move = moves_[choice[n]];
      // Some values of a unit may be unable to change.
      std::vector<SharedValues> changed = move.values;
      std::erase_if(changed, [&](const SharedValues& each) {
        const auto now = action.find(each.nodes.front());
        return now != action.end() && now->second != move.to;
      });
      if (!changed.empty()) move.values = std::move(changed);
      // A change may depend on later changes in the list; without those, it is refused.
      if (auto next =
              plan_of({choice.begin(), choice.begin() + static_cast<std::ptrdiff_t>(n) + 1}))
        plan = *std::move(next);
      JOINTER_TRY(const PlanFigures after, what_if_.figures(plan));
      found.push_back({.move = std::move(move), .after = after});
    }
    return found;
  }

  const Graph& joint_;
  const PlanWhatIf& what_if_;
  const SavePlan& plan_;
  const PlanTarget& target_;
  std::vector<PlanMove> moves_;
  std::size_t unit_count_ = 0;  // units that have moves
  std::int64_t excess_ = 0;
  std::vector<std::int64_t> relief_;  // of each move, before any change
  Choice by_relief_;                  // all moves, most relief first
  std::size_t smallest_ = 0;          // no smaller choice reaches the limit
  std::optional<CallPoint> first_peak_;
  JudgedChoice start_, best_;
  std::size_t evaluated_ = 0;
  bool is_cancelled_ = false;
};

}  // namespace

std::optional<std::size_t> ChangeList::Count::needed_for(std::int64_t bytes) const {
  std::size_t needed = 0;
  for (; bytes > 0 && needed < freed.size(); ++needed) bytes -= freed[needed];
  return bytes > 0 ? std::nullopt : std::optional(needed);
}

std::int64_t ChangeList::Count::sum(std::size_t length) const {
  const auto last = freed.begin() + static_cast<std::ptrdiff_t>(std::min(length, freed.size()));
  return std::accumulate(freed.begin(), last, std::int64_t{0});
}

Result<ChangeList> find_changes(const Graph& joint, const PlanWhatIf& what_if, const SavePlan& plan,
                                const PlanTarget& target) {
  return Search(joint, what_if, plan, target).run();
}

std::string why_not_reached(const ChangeList& list, const PlanTarget& target) {
  if (list.is_reached) return {};
  const ChangeList::Count& count = list.count;
  const std::int64_t excess = list.before.figures.peak_bytes - target.peak_bytes;
  const MoveUnit unit = target.moves.unit;
  const auto units = [unit](std::size_t n) {
    return counted(n, unit_name(unit, 1), unit_name(unit, 2));
  };
  const std::string tagged = count.tagged == 0 ? std::string()
                                               : fmt::format(" {}{} there is tagged to be saved.",
                                                             count.freed.empty() ? "" : "Another ",
                                                             format_bytes(count.tagged));
  if (count.freed.empty())
    return fmt::format("No change of one {} frees memory at the peak.{}", unit_name(unit, 1),
                       tagged);
  const auto needed = count.needed_for(excess);
  if (!needed) {
    const auto bytes = distinct_bytes(std::array{excess, count.sum(count.freed.size())});
    return fmt::format("Freeing {} is impossible: the {} that may change {} {} at the peak.{}",
                       bytes[0], units(count.freed.size()),
                       count.freed.size() == 1 ? "occupies" : "occupy", bytes[1], tagged);
  }
  if (target.at_most && *target.at_most < *needed) {
    const std::size_t n = *target.at_most;
    const bool are_equal = n > 1 && count.freed[n - 1] == count.freed.front();
    const auto bytes = distinct_bytes(std::array{count.sum(n), excess});
    return fmt::format(
        "With {}, at most {} can be freed: the largest {}. Freeing {} requires at least {}.",
        units(n), bytes[0],
        are_equal ? fmt::format("are {} each", format_bytes(count.freed.front()))
                  : fmt::format("occupies {}", format_bytes(count.freed.front())),
        bytes[1], units(*needed));
  }
  const auto bytes = distinct_bytes(
      std::array{excess, list.before.figures.peak_bytes - list.figures.figures.peak_bytes});
  return fmt::format("No list{} was found that frees {}; the best one frees {}.",
                     target.at_most ? fmt::format(" of {}", units(*target.at_most)) : "", bytes[0],
                     bytes[1]);
}

}  // namespace jointer
