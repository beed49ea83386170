#include "views/session/sac/plan_reserved.h"

#include <algorithm>

#include "core/schedule/caching_allocator.h"
#include "views/session/sac/remembered_plans.h"

namespace jointer::views {
namespace {

Result<std::int64_t> reserved_of(const SacState& state) {
  JOINTER_TRY(const Graph pair,
              emit_pair(state.base->partition.joint, state.plan, state.base->settings.partitioner));
  return reserved_peak_bytes(pair, state.base->snapshot->analysis.options.memory);
}

}  // namespace

PlanReserved::PlanReserved(QObject* parent) : QObject(parent) {
  soon_.setSingleShot(true);
  soon_.setInterval(kJudgeAfterMs);
  connect(&soon_, &QTimer::timeout, this, &PlanReserved::find);
}

PlanReserved::~PlanReserved() = default;

const PlanReserved::Known* PlanReserved::known() const {
  const auto found = std::find_if(known_.begin(), known_.end(), [this](const Known& k) {
    return k.base == state_->base && k.plan == state_->plan;
  });
  return found == known_.end() ? nullptr : &*found;
}

void PlanReserved::follow(SacStatePtr state) {
  state_ = std::move(state);
  if (state_ && state_->is_step()) return take_step();
  const bool is_cached = state_ && state_->base && has_reserved(*state_);
  const Known* found = is_cached ? known() : nullptr;
  const auto bytes = found == nullptr ? std::nullopt : std::optional(found->bytes);
  if (!is_cached || found != nullptr)
    soon_.stop();
  else
    soon_.start();
  if (std::exchange(bytes_, bytes) != bytes) emit changed();
}

// The state of a flat training step already has the value.
void PlanReserved::take_step() {
  soon_.stop();
  const auto bytes =
      has_reserved(*state_) ? std::optional(state_->applied_tags.reserved_bytes) : std::nullopt;
  if (std::exchange(bytes_, bytes) != bytes) emit changed();
}

// Runs one computation at a time; of pending requests, only the latest is computed.
void PlanReserved::find() {
  if (finding_.is_running()) return;
  const auto find = [state = state_] { return reserved_of(*state); };
  finding_.start(find, [this, of = state_](const Result<std::int64_t>& bytes) {
    if (bytes) {
      known_.push_front({of->base, of->plan, *bytes});
      if (known_.size() > kRememberedPlans) known_.pop_back();
    }
    const bool is_current = state_ && state_->base == of->base && state_->plan == of->plan;
    if (!is_current) return follow(state_);
    bytes_ = bytes ? std::optional(*bytes) : std::nullopt;
    emit changed();
  });
}

}  // namespace jointer::views
