#pragma once

// The differences between the plans of two states of a document.

#include <QString>
#include <memory>

#include "core/partition/plan_difference.h"
#include "views/session/sac/sac_state.h"

namespace jointer::views {

struct PlanChanges {
  PlanFigures from, to;
  PlanDifference difference;  // adds up to the differences between the estimates
};
using PlanChangesPtr = std::shared_ptr<const PlanChanges>;

// Both states must be complete (SacState::rows).
PlanChangesPtr changes_between(const SacState& from, const SacState& to);

// "97 values changed: 64 saved → recomputed (-14.2 GiB, +38.0 ms), ..."
QString summary_text(const PlanChanges& changes);
// "saved → recomputed"
QString transition_text(const PlanChangeRow& row);
// Counts some of the difference's rows by transition: "64 saved → recomputed, 3 saved → offloaded".
QString counts_text(const PlanDifference& difference, std::span<const std::size_t> rows);

// Returns true if the edit sets policies or requests a plan.
bool changes_plan(const Edit& edit);

}  // namespace jointer::views
