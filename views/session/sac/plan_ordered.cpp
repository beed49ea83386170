#include "views/session/sac/plan_ordered.h"

namespace jointer::views {

PlanOrdered::PlanOrdered(QObject* parent)
    : QObject(parent), found_(ordered_figures, [this] { emit changed(); }) {}

void PlanOrdered::follow(const SacStatePtr& state) {
  has_order_ = state && !state->order.empty();
  found_.follow(has_order_ ? std::optional(plan_of(*state)) : std::nullopt);
  emit changed();
}

}  // namespace jointer::views
