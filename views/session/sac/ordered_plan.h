#pragma once

// Builds the graphs of plans that a search found with an order (SacState::order). Does not use Qt.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"
#include "core/schedule/what_if.h"
#include "views/session/sac/sac_state.h"

namespace jointer::views {

// A plan of a joint graph or of a flat training step, and an order.
struct OrderedPlan {
  SacBasePtr base;  // of a joint graph; otherwise null
  SacStepPtr step;  // of a flat training step; otherwise null
  SavePlan plan;
  std::string order;  // the passes that reorder the plan's graph; empty for the plan's own order
  friend bool operator==(const OrderedPlan&, const OrderedPlan&) = default;
};
// The plan of a state. Requires `state.can_change()`.
OrderedPlan plan_of(const SacState& state);

// The graph of the plan in its order: a pair, or the flat training step with the plan applied.
// Error (usage): see emit_pair and step_of_plan; (run): a pass failed.
Result<Graph> ordered_graph(const OrderedPlan& plan);

struct OrderedFigures {
  Figures figures;
  std::int64_t compute_ns = 0;                 // the sum over kernels
  std::optional<std::int64_t> reserved_bytes;  // nullopt if the device has no caching allocator
  friend bool operator==(const OrderedFigures&, const OrderedFigures&) = default;
};
// The estimates of the graph that ordered_graph returns. Errors: same as ordered_graph.
Result<OrderedFigures> ordered_figures(const OrderedPlan& plan);
// The estimates of the state's plan in its order; without an order, those of the state. Errors:
// same as ordered_graph.
Result<Figures> figures_in_order(const SacState& state);

// One edit that applies the tags of a flat training step, then one for each pass in `order`,
// without those that change nothing. Errors: same as ordered_graph.
Result<std::vector<Edit>> ordered_tags(const Snapshot& tagged, const std::string& order);

}  // namespace jointer::views
