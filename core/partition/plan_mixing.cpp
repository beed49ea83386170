// Finds plans between two others.
//
// A price treats equal values alike, so the plans of two neighboring prices can be far apart: one
// offloads a value in every layer, the other in none. The plans between them are not optimal for
// any price, but they may be the best ones within a limit.
//
// Terms
//   way   the plans that follow one plan for the first n of the values on which the two differ, in
//         some order of the values, and the other plan for the rest; n is the position.
//
// Three orders are tried: the program's, its reverse, and every other value first, which spreads
// the change over the layers.
//
// Steps
//   mixed_within   The farther along the way, the nearer to the plan beyond the limit, so the best
//                  plan within it is at the last position within the limit: bisect to find it.
//   blended        On both sides of the best position, plans get worse: while copies are hidden,
//                  more of them shorten the step; after that, they lengthen it. Ternary search.
//
// Neither assumption always holds, so both return the best plan that they evaluated.
//
// Cost: for d values that differ, 3 * 2 log2(d) evaluated plans for mixed_within, and
// 3 * 2 log1.5(d) for blended.

#include "core/partition/plan_mixing.h"

#include <cstddef>
#include <map>
#include <utility>

#include "core/partition/bisect.h"

namespace jointer {
namespace {

// The ways from one plan to another.
class Ways {
 public:
  Ways(const MixedPlan& from, const MixedPlan& to, const PlanLimit& limit,
       const JudgeActions& judge)
      : from_(from), to_(to), limit_(limit), judge_(judge), best_(from) {
    if (limit.is_better(to.figures, from.figures)) best_ = to;
    std::vector<std::size_t> differ;
    for (std::size_t i = 0; i < from.actions.size(); ++i)
      if (from.actions[i] != to.actions[i]) differ.push_back(i);
    std::vector<std::size_t> spread;
    for (const std::size_t start : {std::size_t{0}, std::size_t{1}})
      for (std::size_t i = start; i < differ.size(); i += 2) spread.push_back(differ[i]);
    if (differ.size() > 1) orders_ = {differ, {differ.rbegin(), differ.rend()}, std::move(spread)};
  }

  [[nodiscard]] std::span<const std::vector<std::size_t>> orders() const { return orders_; }
  // The best plan so far, including both ends.
  [[nodiscard]] const MixedPlan& best() const { return best_; }

  // Judges the plan that differs from `from` for the first `position` values of an order.
  std::optional<Figures> judge(std::span<const std::size_t> order, std::size_t position) {
    MixedPlan plan = from_;
    for (const std::size_t value : order.first(position)) plan.actions[value] = to_.actions[value];
    const auto figures = judge_(plan.actions);
    if (!figures) return std::nullopt;
    plan.figures = *figures;
    if (limit_.is_better(plan.figures, best_.figures)) best_ = std::move(plan);
    return figures;
  }

 private:
  const MixedPlan& from_;
  const MixedPlan& to_;
  const PlanLimit& limit_;
  const JudgeActions& judge_;
  std::vector<std::vector<std::size_t>> orders_;
  MixedPlan best_;
};

}  // namespace

MixedPlan mixed_within(const MixedPlan& within, const MixedPlan& beyond, const PlanLimit& limit,
                       const JudgeActions& judge) {
  Ways ways(within, beyond, limit, judge);
  for (const std::vector<std::size_t>& order : ways.orders())
    (void)last_that_holds(order.size(), [&](std::size_t position) {
      const auto figures = ways.judge(order, position);
      return figures && limit.holds(*figures);
    });
  return ways.best();
}

MixedPlan blended(const MixedPlan& a, const MixedPlan& b, const PlanLimit& limit,
                  const JudgeActions& judge) {
  Ways ways(a, b, limit, judge);
  for (const std::vector<std::size_t>& order : ways.orders()) {
    std::map<std::size_t, std::optional<Figures>> judged{{0, a.figures}, {order.size(), b.figures}};
    const auto at = [&](std::size_t position) {
      const auto [found, is_new] = judged.try_emplace(position);
      if (is_new) found->second = ways.judge(order, position);
      return found->second;
    };
    // An illegal plan is worse than any other.
    const auto is_better = [&](const std::optional<Figures>& x, const std::optional<Figures>& y) {
      return x && (!y || limit.is_better(*x, *y));
    };
    std::size_t low = 0, high = order.size();
    while (high - low > 2) {
      const std::size_t third = (high - low) / 3, first = low + third, second = high - third;
      if (is_better(at(first), at(second)))
        high = second;
      else
        low = first;
    }
    (void)at(low + (high - low) / 2);
  }
  return ways.best();
}

}  // namespace jointer
