#pragma once

// Finds orders for the plans of lists of changes (core/partition/plan_target.h), and the best plan
// to compare a list with. ordered_list.cpp describes how.

#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/plan_target.h"
#include "core/policy/ordered_search.h"
#include "core/policy/trade_off.h"

namespace jointer {

// False if the list has no changes and its plan is within the target; the plan then keeps its own
// order.
bool needs_order(const ChangeList& list);

// Searches for the fastest order within the target for the plan of a list. If none is found, and
// the list has changes but exceeds the target, searches for the fastest order that does not raise
// the peak. If neither is found, returns the plan's own order, with the estimates of the list.
// `make_graph` returns the graph of the plan in its own order; it is not called if `find_order` is
// empty or the list needs no order. Errors: same as `make_graph` and `find_order`.
Result<PlanOrder> order_of_list(const ChangeList& list, const PlanTarget& target,
                                const std::function<Result<Graph>()>& make_graph,
                                const FindOrder& find_order);

// True if the plan of the list is within the target in this order. An order may lower the peak.
bool is_reached(const PlanOrder& order, const PlanTarget& target);

// The reason why the plan is not within the target in this order; empty if it is. Begins with the
// reason for the list, which refers to the plan's own order, and then says what the order found for
// it changes.
std::string why_not_reached(const ChangeList& list, const PlanOrder& order,
                            const PlanTarget& target);

// The plan of the list in this order. `partitioner`: that of its pair.
ParetoPoint point_of_list(const ChangeList& list, const PlanOrder& order, Partitioner partitioner);

// The fastest plan found for the target without its other conditions, together with an order. If
// `own`, the plan of the list, is within the target, the result is not slower. `hidden`, errors:
// same as for fastest_ordered.
Result<Fit> best_for_target(const TradeOff& trade_off, const PlanTarget& target,
                            const ParetoPoint& own, const FindOrder& find_order,
                            SharedHidden* hidden = nullptr);

}  // namespace jointer
