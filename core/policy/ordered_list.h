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

// False if the plan keeps its own order, since the list has no changes and needs none.
bool needs_order(const ChangeList& list);

// Finds an order for the plan of a list. `make_graph` returns the graph of that plan in its own
// order. Returns the own order, with the estimates of the list, if no order within the limit is
// faster. The same, without calling `make_graph`, if `find_order` is empty or the list needs no
// order. A list without changes gets only an order that reaches the target. Errors: same as these
// two functions.
Result<PlanOrder> order_of_list(const ChangeList& list, const PlanTarget& target,
                                const std::function<Result<Graph>()>& make_graph,
                                const FindOrder& find_order);

// True if the plan of the list is within the target in this order. An order may lower the peak.
bool is_reached(const PlanOrder& order, const PlanTarget& target);

// The reason why the plan is not within the target in this order; empty if it is. After the reason
// for the list, which is about the own order, says what the order found for it changes.
std::string why_not_reached(const ChangeList& list, const PlanOrder& order,
                            const PlanTarget& target);

// The plan of the list in this order. `partitioner`: that of its pair.
ParetoPoint point_of_list(const ChangeList& list, const PlanOrder& order, Partitioner partitioner);

// The fastest plan found for the target without its other conditions, together with an order. It is
// not slower than `own`, the plan of the list. Errors: same as fastest_ordered.
Result<Fit> best_for_target(const TradeOff& trade_off, const PlanTarget& target,
                            const ParetoPoint& own, const FindOrder& find_order);

}  // namespace jointer
