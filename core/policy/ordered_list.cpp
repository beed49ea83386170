// Finds an order for the plan of a list of changes.
//
// The list is found first, as the shortest one for the plans' own orders. Only then are orders
// tried on its plan, since finding an order takes far longer than judging a plan
// (ordered_search.cpp).
//
// Steps
//   1. Find the fastest order within the target. If the list exceeds the target in its own order,
//      this may be an order that lowers the peak.
//   2. If there is none, and the list exceeds the target, find the fastest order that does not
//      raise the peak.
// FindOrder returns only orders that shorten the step, so an order that lowers the peak but not the
// step is not found.
//
// Cost: one or two calls of FindOrder.
//
// Source: Jointer's own.

#include "core/policy/ordered_list.h"

#include <algorithm>
#include <utility>

namespace jointer {

Result<PlanOrder> order_of_list(const ChangeList& list, const PlanTarget& target,
                                const std::function<Result<Graph>()>& make_graph,
                                const FindOrder& find_order) {
  PlanOrder own{.passes = {}, .figures = list.figures.figures};
  if (!find_order || list.changes.empty()) return own;
  JOINTER_TRY(const Graph graph, make_graph());
  JOINTER_TRY(PlanOrder order, find_order(graph, {.bytes = target.peak_bytes}));
  if (order.passes.empty() && !list.is_reached) {
    JOINTER_TRY(order, find_order(graph, {.bytes = own.figures.peak_bytes}));
  }
  return order.passes.empty() ? std::move(own) : std::move(order);
}

bool is_reached(const PlanOrder& order, const PlanTarget& target) {
  return order.figures.peak_bytes <= target.peak_bytes;
}

ParetoPoint point_of_list(const ChangeList& list, const PlanOrder& order, Partitioner partitioner) {
  ParetoPoint point{.budget = -1,
                    .name = {},
                    .plan = list.plan,
                    .figures = list.figures,
                    .partitioner = partitioner,
                    .order = order.passes};
  point.figures.figures = order.figures;
  if (!order.passes.empty()) point.reserved_bytes = order.reserved_bytes;
  return point;
}

Result<Fit> best_for_target(const TradeOff& trade_off, const PlanTarget& target,
                            const ParetoPoint& own, const FindOrder& find_order) {
  JOINTER_TRY(Fit best, fastest_ordered(trade_off, target.peak_bytes, find_order));
  const Figures& figures = own.figures.figures;
  const bool fits = figures.peak_bytes <= target.peak_bytes;
  if (fits && (!best.fits || figures.step_ns < best.point.figures.figures.step_ns))
    best = {.point = own, .fits = true, .bound_ns = std::min(best.bound_ns, figures.step_ns)};
  return best;
}

}  // namespace jointer
