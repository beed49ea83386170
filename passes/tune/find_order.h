#pragma once

// Finds an order and buckets for the graph of a plan. find_order.cpp lists the pipelines that are
// tried.

#include <functional>

#include "core/pass/registry.h"
#include "core/policy/ordered_search.h"
#include "core/schedule/analysis.h"

namespace jointer {

struct OrderFinderOptions {
  // Allows reassign_to_pg, which makes the graph require an additional process group: the same
  // switch as auto_tune's `twin_groups`, but off by default. find_order.cpp gives the reason.
  bool twin_groups = false;
  std::function<bool()> is_cancelled = {};  // may be empty; must be thread-safe
};

// Returns a function that finds an order. `registry` must contain the built-in passes. `analysis`
// determines how orders are judged.
FindOrder order_finder(PassRegistry registry, AnalysisOptions analysis,
                       OrderFinderOptions options = {});

// Returns the graph after `passes`, which are in the form of PlanOrder::passes and
// ParetoPoint::order. Error: a pass failed.
Result<Graph> in_order(const Graph& graph, const std::string& passes, const PassRegistry& registry,
                       const AnalysisOptions& analysis);

}  // namespace jointer
