// Adds up candidates: searches back from all of them at once, so that a call in several chains is
// found once.

#include "core/partition/plan_totals.h"

#include <algorithm>
#include <utility>

#include "core/partition/plan_state.h"

namespace jointer {
namespace {

constexpr Place kNone = ~Place{0};

}  // namespace

Result<std::shared_ptr<const PlanTotals>> PlanTotals::make(const PlanWhatIf& what_if,
                                                           const SavePlan& plan) {
  const PlanWhatIf::State& state = what_if.state();
  JOINTER_TRY(const PairOrder order, state.orders.order(plan));
  std::shared_ptr<PlanTotals> totals(new PlanTotals(state));
  totals->is_available_.assign(state.orders.size(), 0);
  for (Place p = 0; p < state.orders.size(); ++p)
    totals->is_available_[p] = state.is_available(plan, order, p);
  totals->owner_.assign(state.memory.storage_count(), kNone);
  for (const Place p : order.saved) {
    if (!state.orders.has(p, PairOrders::is_call)) continue;
    for (const std::uint32_t storage : state.memory.storages(p))
      totals->owner_[storage] = std::min(totals->owner_[storage], p);
  }
  return std::shared_ptr<const PlanTotals>(std::move(totals));
}

PlanTotals::Sum PlanTotals::of(std::span<const NodeId> candidates) const {
  const PairOrders& orders = state_.orders;
  Sum sum;
  std::vector<std::uint8_t> is_counted(owner_.size(), 0), is_found(orders.size(), 0);
  std::vector<Place> open;
  const auto find = [&](Place p) {
    if (!std::exchange(is_found[p], std::uint8_t{1})) open.push_back(p);
  };
  for (const NodeId id : candidates) {
    const Place p = orders.place(id);
    for (const std::uint32_t storage : state_.memory.storages(p))
      if (!state_.memory.is_held(storage) && (owner_[storage] == kNone || owner_[storage] == p) &&
          !std::exchange(is_counted[storage], std::uint8_t{1}))
        sum.bytes += state_.memory.bytes(storage);
    if (state_.recomputable.if_asked(p)) find(p);
  }
  while (!open.empty()) {
    const Place p = open.back();
    open.pop_back();
    sum.recompute_ns += state_.time.ns(p);
    sum.recompute_flops += state_.time.flops(p);
    if (orders.has(p, PairOrders::is_call)) ++sum.calls;
    for (const Place input : orders.inputs(p))
      if (!is_available_[input]) find(input);
  }
  return sum;
}

}  // namespace jointer
