// Searches for the plan and the order that together give the shortest step within a limit on the
// peak, or the lowest peak within a limit on the step time.
//
// Terms
//   own order       the order in which the partitioner, or the passes that apply tags to a flat
//                   training step, place the calls of a plan.
//   order           the passes that then move or bucket collectives (FindOrder).
//   hidden share    the share of the collectives' time that an order is expected to hide.
//
// A search for plans judges each plan in its own order, in which most communication is exposed. It
// therefore saves values whose recomputation requires communication. If an order hides this
// communication, the memory is better spent on other values. Finding an order takes far longer than
// judging a plan, so the search cannot find one for every plan.
//
// Steps
//   1. Search with a hidden share of 80%, and find an order for the plan.
//   2. If that order hides less than half of the communication, the plan was chosen under a wrong
//      assumption. Search again without a hidden share, and find an order for that plan, too.
//   3. Choose the better of the two plans within the limit.
// For a limit on the step time, the smallest plan with the hidden share gives the lowest peak to
// expect. If the fastest plan within that peak exceeds the time limit in the order found for it,
// bisection searches between this peak and that of the smallest plan without a hidden share. Plans
// from earlier searches keep the estimates that those searches found.
// A curve consists of the plans from both searches in the orders found for them. Budgets, presets
// and the current plan keep their own order, since they show what torch does.
//
// The lower bound holds for any order, since it counts compute and copies but no communication.
//
// Cost: one or two searches (trade_off.cpp), and finding an order for each of their plans.
//
// Source: Jointer's own.

#include "core/policy/ordered_search.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/partition/budget_sweep.h"

namespace jointer {
namespace {

constexpr double kHidden = 0.8, kMinHidden = 0.5;
constexpr int kPeakRounds = 3;  // bisection steps, for a limit on the step time

class OrderedSearch {
 public:
  OrderedSearch(const TradeOff& trade_off, const FindOrder& find_order)
      : trade_off_(trade_off), find_order_(find_order), memory_(trade_off.memory()) {}

  Result<Fit> fastest(std::int64_t peak_bytes) {
    JOINTER_TRY(Fit best, fastest_plan(peak_bytes));
    for (const ParetoPoint& known : trade_off_.known())
      if (bytes(known) <= peak_bytes && (!best.fits || step_ns(known) < step_ns(best.point)))
        best = {.point = known, .fits = true};
    JOINTER_TRY(const OrderBound bound, trade_off_.order_bound());
    set_bound(best.point, bound);
    if (best.fits) best.bound_ns = std::min(bound.bound_ns(peak_bytes), step_ns(best.point));
    return best;
  }

  Result<Fit> smallest(double percent) {
    const std::int64_t longest = trade_off_.longest_step(percent);
    const auto fits = [&](const ParetoPoint& point) { return step_ns(point) <= longest; };
    // No plan with a lower peak is expected to fit.
    JOINTER_TRY(const Fit lowest, trade_off_.smallest_within_step(longest, kHidden));
    std::int64_t low = bytes(lowest.point);
    JOINTER_TRY(Fit best, fastest_plan(low));
    if (!fits(best.point)) {
      JOINTER_TRY(best, trade_off_.smallest_within_step(longest, 0));
      std::int64_t high = bytes(best.point);
      JOINTER_CHECK(reorder(best.point, high));
      for (int round = 0; round < kPeakRounds && high > low + 1; ++round) {
        const std::int64_t middle = low + (high - low) / 2;
        JOINTER_TRY(Fit fit, fastest_plan(middle));
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
    JOINTER_TRY(const OrderBound bound, trade_off_.order_bound());
    set_bound(best.point, bound);
    return best;
  }

  Result<ParetoCurve> curve(const std::function<void(const ParetoPoint&)>& found) {
    const auto search = [&](double hidden) -> Result<ParetoCurve> {
      JOINTER_TRY(ParetoCurve curve, trade_off_.curve(hidden));
      for (ParetoPoint& point : curve.points) {
        if (!point.is_searched()) continue;
        JOINTER_CHECK(reorder(point, bytes(point)));
        if (found) found(point);
      }
      return curve;
    };
    JOINTER_TRY(ParetoCurve curve, search(kHidden));
    if (!is_hidden_) {
      JOINTER_TRY(const ParetoCurve full, search(0));
      std::ranges::copy_if(full.points, std::back_inserter(curve.points),
                           &ParetoPoint::is_searched);
    }
    curve.points = pareto_front(std::move(curve.points));
    JOINTER_TRY(const OrderBound bound, trade_off_.order_bound());
    for (ParetoPoint& point : curve.points) set_bound(point, bound);
    return curve;
  }

 private:
  // Does not set the lower bound of the result.
  Result<Fit> fastest_plan(std::int64_t peak_bytes) {
    const auto search = [&](double hidden) -> Result<Fit> {
      JOINTER_TRY(Fit fit, trade_off_.fastest_within(peak_bytes, hidden));
      if (fit.fits) JOINTER_CHECK(reorder(fit.point, peak_bytes));
      return fit;
    };
    JOINTER_TRY(Fit best, search(kHidden));
    if (is_hidden_) return best;
    JOINTER_TRY(Fit full, search(0));
    if (full.fits && (!best.fits || step_ns(full.point) < step_ns(best.point)))
      best = std::move(full);
    return best;
  }

  [[nodiscard]] std::int64_t bytes(const ParetoPoint& point) const {
    return bytes_of(point, memory_).value_or(point.figures.figures.peak_bytes);
  }
  static std::int64_t step_ns(const ParetoPoint& point) { return point.figures.figures.step_ns; }
  static void set_bound(ParetoPoint& point, const OrderBound& bound) {
    point.bound_ns = std::min(bound.bound_ns(point.figures.figures.peak_bytes), step_ns(point));
  }

  // Finds an order for a plan; pairs from other partitioners keep their own order.
  Result<void> reorder(ParetoPoint& point, std::int64_t limit_bytes) {
    if (point.partitioner != Partitioner::min_cut) return {};
    JOINTER_TRY(const Graph graph, trade_off_.graph_of(point.plan));
    JOINTER_TRY(PlanOrder order, find_order_(graph, {.memory = memory_, .bytes = limit_bytes}));
    const auto communication = static_cast<double>(order.communication_ns);
    if (static_cast<double>(order.figures.exposed_ns) > (1 - kMinHidden) * communication)
      is_hidden_ = false;
    if (order.passes.empty()) return {};
    point.order = std::move(order.passes);
    point.figures.figures = order.figures;
    point.reserved_bytes = order.reserved_bytes;
    return {};
  }

  const TradeOff& trade_off_;
  const FindOrder& find_order_;
  LimitedMemory memory_;
  bool is_hidden_ = true;  // all orders found so far hide enough of the communication
};

}  // namespace

Result<Fit> fastest_ordered(const TradeOff& trade_off, std::int64_t peak_bytes,
                            const FindOrder& find_order) {
  if (!find_order) return trade_off.fastest_within(peak_bytes);
  return OrderedSearch(trade_off, find_order).fastest(peak_bytes);
}

Result<Fit> smallest_ordered(const TradeOff& trade_off, double percent,
                             const FindOrder& find_order) {
  if (!find_order) return trade_off.smallest_within(percent);
  return OrderedSearch(trade_off, find_order).smallest(percent);
}

Result<ParetoCurve> ordered_curve(const TradeOff& trade_off, const FindOrder& find_order,
                                  const std::function<void(const ParetoPoint&)>& found) {
  if (!find_order) return trade_off.curve();
  return OrderedSearch(trade_off, find_order).curve(found);
}

}  // namespace jointer
