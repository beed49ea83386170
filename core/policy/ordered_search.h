#pragma once

// Finds plans together with orders for their graphs. The top of ordered_search.cpp describes the
// search.

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/hidden_shares.h"
#include "core/partition/pareto.h"
#include "core/policy/trade_off.h"
#include "core/schedule/what_if.h"

namespace jointer {

// An order of a graph: the passes that produce it, and the estimates after them.
struct PlanOrder {
  std::string passes;  // as a pipeline; empty: the graph's own order
  Figures figures;
  // By the groups of the graph before the passes; set only if OrderLimit::wants_communication.
  GroupTimesByName communication;
  // The peak of the fastest order, in the limited memory, if it exceeds the limit; otherwise 0.
  std::int64_t refused_bytes = 0;
  std::int64_t reserved_bytes = 0;  // peak by torch's caching allocator; unset for the own order
};

struct OrderLimit {
  LimitedMemory memory = LimitedMemory::allocated;
  std::int64_t bytes = 0;  // maximum at the peak
  // If true, the result includes PlanOrder::communication, which takes a simulation, and the order
  // need not be the best that can be found.
  bool wants_communication = false;
};

// Searches for the order of a graph with the shortest step within the limit. Returns the graph's
// own order if no faster one is found. Error (cancelled): the search was cancelled.
using FindOrder = std::function<Result<PlanOrder>(const Graph& graph, const OrderLimit& limit)>;

// Like TradeOff::fastest_within, smallest_within and curve, for plans whose graphs may be
// reordered. The points have the estimates after reordering; ParetoPoint::order has the passes. The
// points in TradeOff::known must have such estimates, too. Without `find_order` (an empty
// function), every plan keeps its own order. The `is_cancelled` of the trade-off's watcher must be
// thread-safe. Deterministic if `find_order` is. Errors: same as those functions and `find_order`.
//
// `hidden`: shared by searches with equal graphs, estimates, partition options, memory and
// `find_order` and, for a flat training step, the same current plan; null: not shared.
Result<Fit> fastest_ordered(const TradeOff& trade_off, std::int64_t peak_bytes,
                            const FindOrder& find_order, SharedHidden* hidden = nullptr);
Result<Fit> smallest_ordered(const TradeOff& trade_off, double percent, const FindOrder& find_order,
                             SharedHidden* hidden = nullptr);
// `found`: called with each searched plan once its order is known; may be empty. Not called without
// `find_order`.
Result<ParetoCurve> ordered_curve(const TradeOff& trade_off, const FindOrder& find_order,
                                  const std::function<void(const ParetoPoint&)>& found = {},
                                  SharedHidden* hidden = nullptr);

}  // namespace jointer
