// Searches for the plan and the order that together give the shortest step within a limit on the
// peak, or the lowest peak within a limit on the step time.
//
// Terms
//   own order       the order in which the partitioner, or the passes that apply tags to a flat
//                   training step, place the calls of a plan.
//   order           the passes that then move or bucket collectives (FindOrder).
//   hidden share    the fraction of the communication that an order is expected to hide, by process
//                   group (hidden_shares.h).
//
// A search for plans judges each plan in its own order, in which most communication is exposed. It
// therefore saves values whose recomputation requires communication. If an order hides this
// communication, the memory is better spent on other values. Finding an order takes far longer than
// judging a plan, so the search cannot find one for every plan.
//
// Steps
//   1. Find good orders for min_cut's plan (for a flat training step, the current plan) and for one
//      that recomputes all that it may, without a limit on the memory. Their communication gives
//      the hidden shares of this graph. They do not depend on the limit: otherwise, neighboring
//      limits would be judged differently. Searches for several limits may share them. A plan that
//      recomputes less leaves more compute to hide its communication, so shares between 0 and 1 are
//      raised by a quarter of what they lack. On Llama3-8B with tensor parallelism, this makes the
//      step 0.1 to 0.3% shorter at 13 of 15 limits.
//   2. Search with these shares, and find an order for the plan.
//   3. If a faster order of that plan needs more memory than the limit allows, for example for
//      buckets, give up a part of the plan for it: find an order for the best plan found on the way
//      whose peak is lower by the difference. Continue if that is not enough. If no order was
//      refused, communication may still be exposed because starting it earlier would exceed the
//      limit: find an order for the best plan whose peak is a tenth lower, as long as the search
//      expects its step to be clearly shorter than the best one found. At most three plans are
//      tried. Plans are compared in allocated bytes, also if the limit is of reserved memory.
//   4. If the best plan in its order leaves at least a hundredth of the limit, save more of its
//      values until its peak has grown by as much (plan_tuning.cpp), and find an order for the
//      result. Continue once if that is faster.
//   5. For a limit on the peak, on graphs with up to 5,000 nodes: do steps 2 to 4 without hidden
//      shares as well, and choose the faster answer. Few large values, or a CPU that cannot keep
//      up, may make a plan good that the shares make look bad.
// For a limit on the step time, the smallest plan with the hidden shares gives the lowest peak to
// expect. If the fastest plan within that peak exceeds the time limit in the order found for it,
// bisection searches between this peak and that of the smallest plan without hidden shares, by
// ratio, since the former is usually closer. If the order makes the step clearly shorter than the
// limit, for example because it launches fewer calls, lower peaks are tried until one does not fit.
// Plans from earlier searches keep the estimates that those searches found. A curve consists of the
// plans that the search finds, in the orders found for them within their own peaks, of the fastest
// of them in an order without a limit, and of budgets, presets and the current plan, which keep
// their own order there, since they show what torch does.
//
// The lower bound holds for any order, since it counts compute and copies but no communication, and
// no call that a bucket replaces (order_bound.h). It is found at the same time as the plans.
//
// Cost: searches for a plan (trade_off.cpp) and orders to find, two of them for the hidden shares.
// A limit on the peak takes one search and at most 8 orders, or with step 5 two searches and 14
// orders; a limit on the step time, at most 6 searches and 27 orders; a curve, one search and an
// order for each of its searched plans, and 3 more.
//
// Source: Jointer's own.

#include "core/policy/ordered_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/base/parallel.h"
#include "core/partition/budget_sweep.h"

namespace jointer {
namespace {

constexpr double kRaised = 0.25;             // of a hidden share's distance to 1
constexpr int kMaxGivenUp = 3;               // maximum number of plans with a lower peak to try
constexpr std::int64_t kRoomPart = 10;       // of the peak: room for an order
constexpr int kMaxExtended = 2;              // rounds of step 4
constexpr std::int64_t kExtendedPart = 100;  // of the limit: the minimum that is left, in step 4
constexpr double kClearlyShorter = 0.995;    // of the step time
constexpr int kPeakRounds = 3;               // peaks to try, for a limit on the step time
constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();  // bytes
constexpr std::int64_t kFirstPart = 16;     // of the peak: the first step to a lower one
constexpr std::size_t kMaxForBoth = 5'000;  // nodes of a graph that step 5 applies to

class OrderedSearch {
 public:
  OrderedSearch(const TradeOff& trade_off, const FindOrder& find_order, SharedHidden* shared)
      : trade_off_(trade_off),
        find_order_(find_order),
        shared_(shared != nullptr ? *shared : own_),
        memory_(trade_off.memory()) {}

  Result<Fit> fastest(std::int64_t peak_bytes) {
    OrderBound bound;
    JOINTER_TRY(Fit best, with_bound<Fit>([&] { return fastest_of_both(peak_bytes); }, bound));
    for (const ParetoPoint& known : trade_off_.known())
      if (bytes(known) <= peak_bytes && (!best.fits || step_ns(known) < step_ns(best.point)))
        best = {.point = known, .fits = true};
    set_bound(best.point, bound);
    if (best.fits) best.bound_ns = std::min(bound.bound_ns(peak_bytes), step_ns(best.point));
    return best;
  }

  Result<Fit> smallest(double percent) {
    OrderBound bound;
    JOINTER_TRY(Fit best, with_bound<Fit>([&] { return smallest_plan(percent); }, bound));
    set_bound(best.point, bound);
    return best;
  }

  Result<ParetoCurve> curve(const std::function<void(const ParetoPoint&)>& found) {
    OrderBound bound;
    JOINTER_TRY(ParetoCurve curve,
                with_bound<ParetoCurve>([&] { return ordered_points(found); }, bound));
    for (ParetoPoint& point : curve.points) set_bound(point, bound);
    return curve;
  }

 private:
  // Runs `search`, and finds the bound at the same time.
  template <class Answer>
  Result<Answer> with_bound(const std::function<Result<Answer>()>& search, OrderBound& bound) {
    Result<Answer> answer;
    Result<OrderBound> made;
    run_both([&] { answer = search(); }, [&] { made = trade_off_.order_bound(); });
    if (!answer) return answer;
    JOINTER_TRY(bound, std::move(made));
    return answer;
  }

  // Does not set the lower bound of the result.
  Result<Fit> smallest_plan(double percent) {
    const std::int64_t longest = trade_off_.longest_step(percent);
    const auto fits = [&](const ParetoPoint& point) { return step_ns(point) <= longest; };
    JOINTER_CHECK(find_hidden());
    // No plan with a lower peak is expected to fit.
    JOINTER_TRY(const Fit lowest, trade_off_.smallest_within_step(longest, hidden_));
    std::int64_t low = bytes(lowest.point);
    JOINTER_TRY(Fit best, fastest_plan(low, hidden_));
    if (fits(best.point)) {
      for (int round = 0; round < kPeakRounds; ++round) {
        if (!is_clearly_shorter(step_ns(best.point), longest)) break;
        low -= low / (kFirstPart >> round);
        JOINTER_TRY(Fit fit, fastest_plan(low, hidden_));
        if (!fit.fits || !fits(fit.point)) break;
        best = std::move(fit);
      }
    } else {
      JOINTER_TRY(best, trade_off_.smallest_within_step(longest, {}));
      std::int64_t high = bytes(best.point);
      JOINTER_CHECK(reorder(best.point, high));
      for (int round = 0; round < kPeakRounds && high > low + 1; ++round) {
        const std::int64_t middle = between(low, high);
        JOINTER_TRY(Fit fit, fastest_plan(middle, hidden_));
        const bool is_enough = fit.fits && fits(fit.point);
        (is_enough ? high : low) = middle;
        if (is_enough) best = std::move(fit);
      }
    }
    best.fits = fits(best.point);
    best.bound_ns = 0;
    for (const ParetoPoint& known : trade_off_.known())
      if (fits(known) && (!best.fits || bytes(known) < bytes(best.point)))
        best = {.point = known, .fits = true};
    return best;
  }

  // Does not set the lower bounds of the points.
  Result<ParetoCurve> ordered_points(const std::function<void(const ParetoPoint&)>& found) {
    JOINTER_CHECK(find_hidden());
    JOINTER_TRY(ParetoCurve curve, trade_off_.curve(hidden_));
    std::optional<ParetoPoint> fastest;
    for (ParetoPoint& point : curve.points) {
      if (!point.is_searched()) continue;
      fastest = point;
      JOINTER_CHECK(reorder(point, bytes(point)));
      if (found) found(point);
    }
    if (fastest) {
      JOINTER_CHECK(reorder(*fastest, kUnlimited));
      if (found) found(*fastest);
      curve.points.push_back(*std::move(fastest));
    }
    curve.points = pareto_front(std::move(curve.points));
    return curve;
  }

  // Step 5. Does not set the lower bound of the result.
  Result<Fit> fastest_of_both(std::int64_t peak_bytes) {
    JOINTER_CHECK(find_hidden());
    JOINTER_TRY(Fit fit, fastest_plan(peak_bytes, hidden_));
    const bool is_small = trade_off_.partition().joint.order().size() <= kMaxForBoth;
    if (!is_small || !fit.fits || hidden_.hides_nothing()) return fit;
    Result<Fit> other = fastest_plan(peak_bytes, {});
    if (!other && other.error().kind != Error::Kind::cancelled) return other;
    if (other && other->fits && step_ns(other->point) < step_ns(fit.point)) return other;
    return fit;
  }

  // Steps 2 to 4, with these shares. Does not set the lower bound of the result.
  Result<Fit> fastest_plan(std::int64_t peak_bytes, const HiddenShares& hidden) {
    JOINTER_TRY(Fit fit, trade_off_.fastest_within(peak_bytes, hidden));
    if (!fit.fits) return fit;
    std::int64_t limit = allocated(fit.point);
    JOINTER_TRY(std::int64_t refused, reorder(fit.point, peak_bytes));
    // An order changes the peak of a plan, so only plans before the last one tried are compared.
    auto tried = fit.found.end();
    for (int i = 0; i < kMaxGivenUp; ++i) {
      const bool wants_room = refused == 0;
      limit -= wants_room ? limit / kRoomPart : refused - peak_bytes;
      const auto above = std::find_if(fit.found.begin(), tried, [&](const ParetoPoint& point) {
        return allocated(point) > limit;
      });
      if (above == fit.found.begin()) break;
      tried = std::prev(above);
      ParetoPoint& next = *tried;
      if (wants_room && !is_clearly_shorter(step_ns(next), step_ns(fit.point))) break;
      limit = allocated(next);
      JOINTER_TRY(refused, reorder(next, peak_bytes));
      // Without an order, the plan still has the estimates of the search, in which the hidden
      // communication takes no time.
      if (!next.order.empty() && step_ns(next) < step_ns(fit.point)) fit.point = next;
    }
    fit.found.clear();
    JOINTER_CHECK(extend(fit.point, peak_bytes, hidden));
    return fit;
  }

  // Step 4.
  Result<void> extend(ParetoPoint& point, std::int64_t peak_bytes, const HiddenShares& hidden) {
    for (int i = 0; i < kMaxExtended && !point.order.empty(); ++i) {
      const std::int64_t left = peak_bytes - bytes(point);
      if (left <= 0 || left < peak_bytes / kExtendedPart) break;
      JOINTER_TRY(ParetoPoint more, trade_off_.with_more_saved(point.plan, left, hidden));
      if (more.plan == point.plan) break;
      JOINTER_CHECK(reorder(more, peak_bytes));
      if (more.order.empty() || step_ns(more) >= step_ns(point)) break;
      point = std::move(more);
    }
    return {};
  }

  Result<void> find_hidden() {
    JOINTER_TRY(hidden_, shared_.get([&] { return hidden_shares(); }));
    return {};
  }

  Result<HiddenShares> hidden_shares() {
    const SavePlan& plan = trade_off_.partition().plan;
    JOINTER_TRY(const auto candidates, trade_off_.what_if().candidates(plan));
    std::vector<NodeId> nodes;
    for (const SaveCandidate& each : candidates) nodes.push_back(each.node);
    const auto recomputed = trade_off_.what_if().change_all(plan, nodes, PlanAction::recompute);
    if (!recomputed) return HiddenShares();  // nothing can be recomputed
    JOINTER_TRY(const GroupTimesByName now, communication_of(plan));
    JOINTER_TRY(const GroupTimesByName more, communication_of(recomputed->plan));
    return HiddenShares(now, more).raised(kRaised);
  }

  // The communication in the fastest order of a plan.
  Result<GroupTimesByName> communication_of(const SavePlan& plan) {
    JOINTER_TRY(const Graph graph, trade_off_.graph_of(plan));
    JOINTER_TRY(
        PlanOrder order,
        find_order_(graph, {.memory = memory_, .bytes = kUnlimited, .wants_communication = true}));
    return std::move(order.communication);
  }

  // The peak of the limited memory in bytes; that of allocated memory if it is unknown.
  [[nodiscard]] std::int64_t bytes(const ParetoPoint& point) const {
    return bytes_of(point, memory_).value_or(allocated(point));
  }
  static std::int64_t allocated(const ParetoPoint& point) {
    return point.figures.figures.peak_bytes;
  }
  static std::int64_t step_ns(const ParetoPoint& point) { return point.figures.figures.step_ns; }
  static bool is_clearly_shorter(std::int64_t a_ns, std::int64_t b_ns) {
    return static_cast<double>(a_ns) < kClearlyShorter * static_cast<double>(b_ns);
  }
  // A peak as many times above `low` as below `high`.
  static std::int64_t between(std::int64_t low, std::int64_t high) {
    const double mean = std::sqrt(static_cast<double>(low) * static_cast<double>(high));
    return std::clamp(saturating_whole(mean), low + 1, high - 1);
  }
  static void set_bound(ParetoPoint& point, const OrderBound& bound) {
    point.bound_ns = std::min(bound.bound_ns(point.figures.figures.peak_bytes), step_ns(point));
  }

  // Finds an order for a plan; pairs from other partitioners keep their own order. Returns
  // PlanOrder::refused_bytes.
  Result<std::int64_t> reorder(ParetoPoint& point, std::int64_t limit_bytes) {
    if (point.partitioner != Partitioner::min_cut) return 0;
    JOINTER_TRY(const Graph graph, trade_off_.graph_of(point.plan));
    JOINTER_TRY(PlanOrder order, find_order_(graph, {.memory = memory_, .bytes = limit_bytes}));
    if (order.passes.empty()) return order.refused_bytes;
    point.order = std::move(order.passes);
    point.figures.figures = order.figures;
    point.reserved_bytes = order.reserved_bytes;
    return order.refused_bytes;
  }

  const TradeOff& trade_off_;
  const FindOrder& find_order_;
  SharedHidden own_;  // used if the searches share none
  SharedHidden& shared_;
  LimitedMemory memory_;
  HiddenShares hidden_;
};

}  // namespace

Result<Fit> fastest_ordered(const TradeOff& trade_off, std::int64_t peak_bytes,
                            const FindOrder& find_order, SharedHidden* hidden) {
  if (!find_order) return trade_off.fastest_within(peak_bytes);
  return OrderedSearch(trade_off, find_order, hidden).fastest(peak_bytes);
}

Result<Fit> smallest_ordered(const TradeOff& trade_off, double percent, const FindOrder& find_order,
                             SharedHidden* hidden) {
  if (!find_order) return trade_off.smallest_within(percent);
  return OrderedSearch(trade_off, find_order, hidden).smallest(percent);
}

Result<ParetoCurve> ordered_curve(const TradeOff& trade_off, const FindOrder& find_order,
                                  const std::function<void(const ParetoPoint&)>& found,
                                  SharedHidden* hidden) {
  if (!find_order) return trade_off.curve();
  return OrderedSearch(trade_off, find_order, hidden).curve(found);
}

}  // namespace jointer
