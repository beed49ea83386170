// Finds an order for the plan of a list of changes.
//
// The search for the list judges every plan in its own order. Only then are orders tried on the
// plan of the list, since finding an order takes far longer than judging a plan
// (ordered_search.cpp).
//
// Steps
//   1. Search for the fastest order within the target. If the plan exceeds the target in its own
//      order, this is an order that lowers the peak.
//   2. If none is found, and the plan exceeds the target, search for the fastest order that does
//      not raise the peak. A list without changes skips this step, since the order would be its
//      only effect and would not reach the target.
// FindOrder returns only orders that shorten the step, so an order that lowers the peak but not the
// step is not found.
//
// Cost: one or two calls of FindOrder.
//
// Source: Jointer's own.

#include "core/policy/ordered_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/base/units.h"

namespace jointer {

bool needs_order(const ChangeList& list) {
  return !list.changes.empty() || !list.is_reached;
}

Result<PlanOrder> order_of_list(const ChangeList& list, const PlanTarget& target,
                                const std::function<Result<Graph>()>& make_graph,
                                const FindOrder& find_order) {
  PlanOrder own{.passes = {}, .figures = list.figures.figures};
  if (!find_order || !needs_order(list)) return own;
  JOINTER_TRY(const Graph graph, make_graph());
  JOINTER_TRY(PlanOrder order, find_order(graph, {.bytes = target.peak_bytes}));
  if (order.passes.empty() && !list.is_reached && !list.changes.empty()) {
    JOINTER_TRY(order, find_order(graph, {.bytes = own.figures.peak_bytes}));
  }
  return order.passes.empty() ? std::move(own) : std::move(order);
}

bool is_reached(const PlanOrder& order, const PlanTarget& target) {
  return order.figures.peak_bytes <= target.peak_bytes;
}

std::string why_not_reached(const ChangeList& list, const PlanOrder& order,
                            const PlanTarget& target) {
  if (is_reached(order, target)) return {};
  std::string text = why_not_reached(list, target);
  if (order.passes.empty()) return text;
  const std::int64_t peak = order.figures.peak_bytes;
  if (peak >= list.figures.figures.peak_bytes)
    return text + " The order found for the plan does not lower the peak.";
  return text +
         fmt::format(
             " These bytes are for the plan's own order. In the order found for it, the peak "
             "is {}, still {} above the limit.",
             format_bytes(peak), format_bytes(peak - target.peak_bytes));
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
                            const ParetoPoint& own, const FindOrder& find_order,
                            SharedHidden* hidden) {
  JOINTER_TRY(Fit best, fastest_ordered(trade_off, target.peak_bytes, find_order, hidden));
  const Figures& figures = own.figures.figures;
  const bool fits = figures.peak_bytes <= target.peak_bytes;
  if (fits && (!best.fits || figures.step_ns < best.point.figures.figures.step_ns))
    best = {.point = own, .fits = true, .bound_ns = std::min(best.bound_ns, figures.step_ns)};
  return best;
}

}  // namespace jointer
