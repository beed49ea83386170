#pragma once

#include <span>

#include "core/partition/plan_totals.h"
#include "views/session/sac/sac_state.h"

namespace jointer::views {

// The estimates of several rows together: a storage that they share counts once, and so does a call
// that recomputes several of them. `tensors`: indices in the state's tensors, each at most once.
// Unless the graph is a joint graph, the counted calls are those that compute the rows' values.
// Cost: linear.
PlanTotals::Sum sum_of(const SacState& state, std::span<const int> tensors);

}  // namespace jointer::views
