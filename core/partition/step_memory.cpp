// Computes the lifetimes in a flat training step under a plan, by applying the rules of
// lifetimes.cpp to the calls that flat_order.cpp lists.
//
// A node's tensors may exist up to three times: as results of the node itself, of its copy, and of
// the view that is repeated after a reload. A slot that is an alias (plan_memory.cpp) shares the
// storage of an input of its call or of an earlier slot; every other slot gets a storage for each
// of the three.
//
// Cost: linear in calls, inputs and tensors.

#include <array>

#include "core/partition/flat_order.h"
#include "core/partition/plan_lives.h"
#include "core/partition/plan_memory.h"
#include "core/schedule/memory_walk.h"

namespace jointer {

// The `Uses` of MemoryWalk for a flat training step under a plan.
class PlanMemory::StepUses : public CallUses<StepUses> {
 public:
  using Call = StepCall;

  StepUses(const PlanMemory& memory, const PairOrder& order, Lives& lives)
      : CallUses(memory, order, lives, 3 * memory.orders_.size()), flat_(*memory.orders_.flat()) {
    storage_of_.fill(memory.storages_);
  }

  [[nodiscard]] std::optional<Call> awaited(const Call& call) const {
    if (!orders_.has(call.place, PairOrders::is_wait)) return std::nullopt;
    const auto started = flat_.collective_of_wait(order_, call);
    return started.found ? std::optional(started.call) : std::nullopt;
  }
  [[nodiscard]] std::size_t index(const Call& start) const {
    return static_cast<std::size_t>(start.kind) * orders_.size() + start.place;
  }
  [[nodiscard]] static bool is_in_the_other_half(const Call&, const Call&) { return false; }

  void allocate(const Call& call, std::int32_t step) {
    std::vector<std::uint32_t>& storage_of = storage_of_[static_cast<std::size_t>(call.kind)];
    const std::uint32_t end = memory_.first_slot_[call.place + 1];
    for (std::uint32_t s = memory_.first_slot_[call.place]; s < end; ++s) {
      if (flat_.is_backward(call)) storage_of[s] = storage_in_backward(call, s);
      lives_.allocate(storage_of[s], step);
    }
  }
  void use_inputs(const Call& call, std::int32_t step) {
    for (const Place input : orders_.inputs(call.place))
      use(flat_.input_of(order_, call, input), step);
  }
  // Visits a copy to or from the host, or its wait.
  void transfer(const Call& call, std::int32_t step) {
    using Kind = StepCall::Kind;
    const std::uint32_t value = order_.value_of[call.place];
    const auto use_original = [&] { use({call.place, StepInput::Kind::original}, step); };
    visit_copy(call.kind, value, use_original, step);
    if (const Place last = order_.read_last[value];
        call.kind == Kind::offload_wait && last != PairOrder::kNever)
      use({last, StepInput::Kind::original}, step);
  }
  void use(const StepInput& input, std::int32_t step) {
    const std::uint32_t end = memory_.first_slot_[input.place + 1];
    for (std::uint32_t s = memory_.first_slot_[input.place]; s < end; ++s)
      lives_.use(storage_of(input, s), step);
  }

 private:
  static_assert(static_cast<int>(StepInput::Kind::copy) == static_cast<int>(StepCall::Kind::copy) &&
                static_cast<int>(StepInput::Kind::repeat) ==
                    static_cast<int>(StepCall::Kind::repeat));

  [[nodiscard]] std::uint32_t storage_of(const StepInput& input, std::uint32_t slot) const {
    if (input.kind == StepInput::Kind::reloaded)
      return memory_.reloaded_storage(order_.value_of[input.place]);
    return storage_of_[static_cast<std::size_t>(input.kind)][slot];
  }
  [[nodiscard]] std::uint32_t storage_in_backward(const Call& call, std::uint32_t slot) const {
    const std::int32_t alias = memory_.aliases_[slot];
    if (alias >= 0) {
      const auto other = static_cast<std::uint32_t>(alias);
      const Place place = memory_.place_[other];
      return place == call.place ? storage_of_[static_cast<std::size_t>(call.kind)][other]
                                 : storage_of(flat_.input_of(order_, call, place), other);
    }
    const auto own = static_cast<std::uint32_t>(memory_.storage_bytes_.size());
    if (call.kind == StepCall::Kind::copy) return own + slot;
    if (call.kind == StepCall::Kind::original) return memory_.storages_[slot];
    return memory_.host_storage(static_cast<std::uint32_t>(order_.offloaded.size())) + slot;
  }

  const FlatOrders& flat_;
  // The storage of each slot, for the node itself, for its copy, and for the repeated view.
  std::array<std::vector<std::uint32_t>, 3> storage_of_;
};

PlanMemory::Lives PlanMemory::live_in_step(const PairOrder& order) const {
  Lives lives;
  const std::size_t repeated = order.offloaded.empty() ? 0 : storages_.size();
  lives.storages.assign(
      storage_bytes_.size() + storages_.size() + 2 * order.offloaded.size() + repeated, {});
  lives.end = static_cast<std::int32_t>(order.step.size());
  hold_inputs(lives);
  StepUses uses(*this, order, lives);
  MemoryWalk walk(uses, 3 * orders_.size());
  for (const StepCall& call : order.step) {
    if (!call.is_transfer()) {
      walk.run(call);
      continue;
    }
    uses.transfer(call, walk.step());
    walk.pass();
  }
  for (const auto& outputs : {orders_.forward_outputs(), orders_.backward_outputs()})
    for (const Place p : outputs) uses.use({p, StepInput::Kind::original}, lives.end);
  walk.end();
  return lives;
}

}  // namespace jointer
