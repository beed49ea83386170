#include "views/session/sac/plan_reserved.h"

#include <utility>

#include "core/schedule/caching_allocator.h"

namespace jointer::views {

PlanReserved::PlanReserved(QObject* parent)
    : QObject(parent), found_(reserved_of, [this] { show(found_.value()); }) {}

Result<std::int64_t> PlanReserved::reserved_of(const Plan& plan) {
  const SacBase& base = *plan.base;
  JOINTER_TRY(const Graph pair,
              emit_pair(base.partition.joint, plan.plan, base.settings.partitioner));
  return reserved_peak_bytes(pair, base.snapshot->analysis.options.memory);
}

void PlanReserved::follow(const SacStatePtr& state) {
  const bool is_asked = state && has_reserved(*state);
  // The state of a flat training step already has the value.
  const bool is_step = is_asked && state->is_step();
  found_.follow(is_asked && !is_step && state->base ? std::optional(Plan{state->base, state->plan})
                                                    : std::nullopt);
  show(is_step ? std::optional(state->applied_tags.reserved_bytes) : found_.value());
}

}  // namespace jointer::views
