// Bounds from below the memory of every plan at one point of the step, while a call runs that is
// part of every plan.
//
// In the forward, a value is live at a call if it was computed earlier and is either read by this
// call or a later one, or saved. In the backward, the live values are
//   - those that the backward's own calls computed and still read;
//   - those that such calls read both earlier and later, however the backward obtained them;
//   - saved values that such a call reads later;
//   - those that such a call reads later and that a recomputed call has already read, since a call
//     is recomputed when its result is first needed.
// The last two kinds may be the same bytes, so a value counts for the recomputed call if such a
// call has run, and otherwise only if the value is saved. The bound thus leaves out values that are
// saved next to such a call, values that only recomputed calls read, their temporaries, and copies.
//
// Cost: linear in the calls and storages.

#include <algorithm>
#include <limits>

#include "core/partition/plan_relaxation.h"
#include "core/partition/plan_state.h"

namespace jointer {
namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// The first and the last call that allocate or read a storage.
struct Uses {
  std::size_t first = kNever, last = 0;

  [[nodiscard]] bool any() const { return first != kNever; }
  void add(std::size_t call) {
    first = std::min(first, call);
    last = std::max(last, call);
  }
};

}  // namespace

std::shared_ptr<const PlanMoment> PlanRelaxation::moment_at(NodeId call, bool backward) const {
  const PairOrders& orders = state_->orders;
  const std::vector<Place>& calls = backward ? backward_ : forward_;
  // Calls before the first one that reads a tangent may run later than in the joint graph.
  if (calls.empty()) return nullptr;
  if (backward && std::ranges::none_of(orders.inputs(calls.front()), [&](Place input) {
        return orders.has(input, PairOrders::is_tangent);
      }))
    return nullptr;
  const auto found = std::ranges::find(calls, orders.place(call));
  if (found == calls.end()) return nullptr;
  const auto index = static_cast<std::size_t>(found - calls.begin());
  return std::make_shared<const PlanMoment>(backward ? moment_in_backward(index)
                                                     : moment_in_forward(index));
}

PlanMoment PlanRelaxation::moment_in_forward(std::size_t call) const {
  const PlanMemory& memory = state_->memory;
  PlanMoment moment{.fixed_bytes = memory.held_bytes(),
                    .if_saved = std::vector<std::int64_t>(items_.size(), 0),
                    .if_recomputed = std::vector<std::int64_t>(calls_.size(), 0)};
  std::vector<Uses> uses(memory.storage_count());
  std::vector<std::uint8_t> is_computed(memory.storage_count(), 0);
  for (std::size_t k = 0; k < forward_.size(); ++k) {
    for (const std::uint32_t storage : memory.storages(forward_[k])) {
      uses[storage].add(k);
      is_computed[storage] = 1;
    }
    for (const Place input : state_->orders.inputs(forward_[k]))
      for (const std::uint32_t storage : memory.storages(input)) uses[storage].add(k);
  }
  for (std::uint32_t storage = 0; storage < memory.storage_count(); ++storage) {
    const Uses& use = uses[storage];
    const std::int64_t bytes = memory.bytes(storage);
    if (!is_computed[storage]) continue;
    const std::int32_t item = item_of_storage_[storage];
    if (memory.is_held(storage)) {
      // A held result that has not been allocated yet.
      if (item >= 0 && use.first > call) moment.fixed_bytes -= bytes;
    } else if (use.first <= call && call <= use.last) {
      moment.fixed_bytes += bytes;
    } else if (use.first <= call && item >= 0) {
      moment.if_saved[static_cast<std::size_t>(item)] = bytes;
    }
  }
  return moment;
}

PlanMoment PlanRelaxation::moment_in_backward(std::size_t call) const {
  const PairOrders& orders = state_->orders;
  const PlanMemory& memory = state_->memory;
  PlanMoment moment{.fixed_bytes = memory.held_bytes(),
                    .if_saved = std::vector<std::int64_t>(items_.size(), 0),
                    .if_recomputed = std::vector<std::int64_t>(calls_.size(), 0)};
  // A storage of the backward's own calls is live from the call that allocates it.
  std::vector<Uses> uses(memory.storage_count());
  const auto use = [&](Place value, std::size_t at) {
    for (const std::uint32_t storage : memory.storages(value)) uses[storage].add(at);
  };
  for (Place p = 0; p < orders.size(); ++p)
    if (orders.has(p, PairOrders::of_backward)) {
      use(p, 0);
      if (!orders.has(p, PairOrders::is_tangent)) use(p, backward_.size());
    }
  for (std::size_t k = 0; k < backward_.size(); ++k) {
    use(backward_[k], k);
    for (const Place input : orders.inputs(backward_[k])) use(input, k);
  }
  for (const Place p : orders.backward_outputs()) use(p, backward_.size());

  std::vector<Uses> of_item(items_.size());
  for (std::uint32_t storage = 0; storage < memory.storage_count(); ++storage) {
    if (!uses[storage].any()) continue;
    if (const std::int32_t item = item_of_storage_[storage]; item >= 0)
      of_item[static_cast<std::size_t>(item)] = uses[storage];
    else if (!memory.is_held(storage) && uses[storage].first <= call && call <= uses[storage].last)
      moment.fixed_bytes += memory.bytes(storage);
  }
  // For each value, a call that reads it and that, if recomputed, has run by now: all of the call's
  // results have been needed.
  std::vector<std::uint8_t> is_needed(calls_.size(), 1);
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (!of_item[i].any() || of_item[i].first > call) is_needed[items_[i].call] = 0;
  std::vector<std::size_t> reader(items_.size(), kNever);
  for (std::size_t c = 0; c < calls_.size(); ++c)
    if (is_needed[c] && calls_[c].may_repeat)
      for (const std::uint32_t item : calls_[c].reads) reader[item] = c;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (!of_item[i].any() || of_item[i].last < call || items_[i].bytes == 0) continue;
    // A reloaded copy has only the bytes of the value.
    const std::int64_t bytes =
        items_[i].can_offload ? std::min(items_[i].bytes, items_[i].value_bytes) : items_[i].bytes;
    if (of_item[i].first <= call)
      moment.fixed_bytes += bytes;
    else if (reader[i] != kNever)
      moment.if_recomputed[reader[i]] += bytes;
    else
      moment.if_saved[i] = items_[i].bytes;
  }
  return moment;
}

}  // namespace jointer
