#pragma once

// Builds the graphs of plans that a search found together with an order (SacState::order). No Qt.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"
#include "core/schedule/what_if.h"
#include "views/session/sac/sac_state.h"

namespace jointer::views {

// The graph of the state's plan in its order: a pair, or the flat training step with its tags
// applied. Requires `state.can_change()`. Error (usage): see emit_pair and apply_step_tags; (run): a
// pass failed.
Result<Graph> ordered_graph(const SacState& state);

struct OrderedFigures {
  Figures figures;
  std::optional<std::int64_t> reserved_bytes;  // nullopt if the device has no caching allocator
  friend bool operator==(const OrderedFigures&, const OrderedFigures&) = default;
};
// The estimates of that graph. Errors: same as ordered_graph.
Result<OrderedFigures> ordered_figures(const SacState& state);

// One edit that applies the tags of a flat training step, then one for each pass in `order`, without
// those that change nothing. Errors: same as ordered_graph.
Result<std::vector<Edit>> ordered_tags(const Snapshot& tagged, const std::string& order);

}  // namespace jointer::views
