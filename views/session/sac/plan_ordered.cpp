#include "views/session/sac/plan_ordered.h"

#include <algorithm>
#include <utility>

#include "views/session/sac/remembered_plans.h"

namespace jointer::views {

PlanOrdered::PlanOrdered(QObject* parent) : QObject(parent) {
  soon_.setSingleShot(true);
  soon_.setInterval(kJudgeAfterMs);
  connect(&soon_, &QTimer::timeout, this, &PlanOrdered::find);
}

PlanOrdered::~PlanOrdered() = default;

PlanOrdered::Plan PlanOrdered::plan_of(const SacState& state) {
  return {state.base, state.step, state.plan, state.order};
}

void PlanOrdered::follow(SacStatePtr state) {
  state_ = std::move(state);
  problem_.clear();
  std::optional<OrderedFigures> figures;
  if (has_order()) {
    const auto known = std::ranges::find(known_, plan_of(*state_), &Known::plan);
    if (known != known_.end()) figures = known->figures;
  }
  if (!has_order() || figures)
    soon_.stop();
  else
    soon_.start();
  figures_ = figures;
  emit changed();
}

// Runs one computation at a time; of pending requests, only the latest is computed.
void PlanOrdered::find() {
  if (finding_.is_running()) return;
  const auto find = [state = state_] { return ordered_figures(*state); };
  finding_.start(find, [this, of = plan_of(*state_)](const Result<OrderedFigures>& found) {
    if (found) {
      known_.push_front({of, *found});
      if (known_.size() > kRememberedPlans) known_.pop_back();
    }
    const bool is_current = state_ && plan_of(*state_) == of;
    if (!is_current) return follow(state_);
    if (found)
      figures_ = *found;
    else
      problem_ = QString::fromStdString(found.error().message);
    emit changed();
  });
}

}  // namespace jointer::views
