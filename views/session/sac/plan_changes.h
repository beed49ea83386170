#pragma once

// The differences between the plans of two states of a document.

#include <QString>
#include <memory>

#include "core/base/result.h"
#include "core/partition/plan_difference.h"
#include "views/session/sac/sac_state.h"

namespace jointer::views {

struct PlanChanges {
  PlanFigures from, to;
  PlanDifference difference;  // adds up to the differences between the estimates

  // Returns true if neither a decision nor an estimate differs. Plans with the same decisions may
  // have different orders.
  [[nodiscard]] bool empty() const { return difference.empty() && from == to; }
};
using PlanChangesPtr = std::shared_ptr<const PlanChanges>;

// The estimates are those in the plans' own orders. Both states must be complete (SacState::rows).
PlanChangesPtr changes_between(const SacState& from, const SacState& to);
// Like changes_between, but with the peak, the step and the exposed time of each plan in the order
// that a search found for it (SacState::order). Runs the passes of these orders. Errors: see
// figures_in_order.
Result<PlanChangesPtr> changes_in_order(const SacState& from, const SacState& to);

// "97 values changed: 64 saved → recomputed (−14.2 GiB, +38.0 ms), ..."
QString summary_text(const PlanChanges& changes);
// "saved → recomputed"
QString transition_text(const PlanChangeRow& row);
// Counts some of the difference's rows by transition: "64 saved → recomputed, 3 saved → offloaded".
QString counts_text(const PlanDifference& difference, std::span<const std::size_t> rows);

// Returns true if the edit sets policies or requests a plan.
bool changes_plan(const Edit& edit);

}  // namespace jointer::views
