// Computes the memory profile of a pair that has not been built, by applying the rules of
// lifetimes.cpp to positions in the joint graph.
//
// Terms
//   slot     a tensor that a node returns and that has memory on the device.
//   storage  in the forward, the joint graph's. In the backward, calls allocate new storages, one
//            per slot that is not an alias.
//   alias    of a slot: the first slot of its node's inputs in the same storage, or an earlier slot
//            of the same node. It is the same under every plan, so it is found once; in the
//            backward, a slot has the storage of its alias.
//
// The generator state that a random call saves on the CPU is a separate storage.
//
// Copies to the host and back run between the calls, as offload_transfers.h places them: an
// offloaded value is in host memory, and a reloaded one in a new storage.
//
// Steps
//   1. Walk the forward's calls in order (memory_walk.h). Results of the forward live to the end,
//      saved values until the first step of the backward.
//   2. Walk the backward's calls in the same way; a saved value is in the forward's storage.
//   3. Sum the changes at the points of the profile.
//
// Cost: linear in nodes, edges and tensors, over arrays in the order of the walk.

#include "core/partition/plan_memory.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <type_traits>

#include "core/base/checked.h"
#include "core/partition/plan_lives.h"
#include "core/schedule/block_replay.h"
#include "core/schedule/collective_copies.h"
#include "core/schedule/memory_walk.h"
#include "core/schedule/optimizer_states.h"

namespace jointer {

// The `Uses` of MemoryWalk for a plan's pair.
class PlanMemory::Uses : public CallUses<Uses> {
 public:
  struct Call {
    Place place = 0;
    bool backward = false;
  };

  Uses(const PlanMemory& memory, const PairOrder& order, Lives& lives)
      : CallUses(memory, order, lives, 2 * memory.orders_.size()),
        first_slot_(memory.first_slot_),
        storage_of_{memory.storages_.data(), lives.backward_storage.data()},
        own_(static_cast<std::uint32_t>(memory.storage_bytes_.size())),
        has_states_(memory.host_counts_ && !order.states.empty()) {}

  [[nodiscard]] std::optional<Call> awaited(Call call) const {
    if (!orders_.has(call.place, PairOrders::is_wait)) return std::nullopt;
    const auto c = orders_.collective_of_wait(call.place, call.backward, order_.given);
    return c.found ? std::optional(Call{c.start, c.backward}) : std::nullopt;
  }
  [[nodiscard]] std::size_t index(Call start) const {
    return (start.backward ? orders_.size() : 0) + start.place;
  }
  [[nodiscard]] static bool is_in_the_other_half(Call start, Call wait) {
    return start.backward != wait.backward;
  }

  void allocate(Call call, std::int32_t step) {
    if (has_states_) use_state(call, step);
    const std::uint32_t end = first_slot_[call.place + 1];
    for (std::uint32_t s = first_slot_[call.place]; s < end; ++s) {
      if (call.backward) {
        const std::int32_t alias = memory_.aliases_[s];
        lives_.backward_storage[s] =
            alias >= 0 ? lives_.backward_storage[static_cast<std::size_t>(alias)] : own_ + s;
      }
      lives_.allocate(storage_of_[call.backward ? 1 : 0][s], step);
    }
  }
  void use_inputs(Call call, std::int32_t step) {
    for (const Place input : orders_.inputs(call.place)) use(input, call.backward, step);
  }
  // Visits a call that reads a part of the result of `call`.
  void read_part(Call call, std::int32_t step) {
    if (has_states_) use_state(call, step);
    use(call.place, call.backward, step);
  }
  // Visits a copy to the host or back, or its wait. MemoryWalk is not needed: a copy always has
  // exactly one wait, and both use the same storages.
  void copy(const TransferCall& call, std::int32_t step) {
    const auto use_original = [&] { use(order_.offloaded[call.value], false, step); };
    visit_copy(call.kind, call.value, use_original, step);
  }
  // Marks the storages of a value in one half as used.
  void use(Place value, bool backward, std::int32_t step) {
    const std::uint32_t* storage_of = storage_of_[backward ? 1 : 0];
    const std::uint32_t end = first_slot_[value + 1];
    for (std::uint32_t s = first_slot_[value]; s < end; ++s) lives_.use(storage_of[s], step);
  }

 private:
  // A generator's state is on the host.
  void use_state(Call call, std::int32_t step) {
    const auto state = order_.state_of(call.place);
    if (!state) return;
    if (!call.backward) lives_.allocate(memory_.state_storage(order_, *state), step);
    lives_.use(memory_.state_storage(order_, *state), step);
  }

  std::span<const std::uint32_t> first_slot_;
  const std::uint32_t* storage_of_[2];  // by slot, in the forward and in the backward
  std::uint32_t own_;                   // the first storage of the backward
  bool has_states_;
};

PlanMemory::PlanMemory(const PairOrders& orders, const MemoryOptions& options)
    : orders_(orders),
      device_(options.runs_on.value_or(orders.graph().main_device())),
      collectives_(options.collectives) {
  const Graph& graph = orders.graph();
  host_counts_ = device_ == DeviceType::cpu || graph.main_device() == DeviceType::cpu;
  constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
  std::vector<std::uint32_t> dense(graph.storage_count(), kUnknown);
  std::vector<std::int32_t> seen_slot(graph.storage_count(), -1);
  std::vector<Place> seen_at(graph.storage_count(), 0);
  first_slot_.push_back(0);
  copy_bytes_.assign(orders.size(), 0);
  value_bytes_.reserve(orders.size());
  for (Place p = 0; p < orders.size(); ++p) {
    const Node& n = graph.node(orders.node(p));
    // Remembers the first slot in a storage among those of the inputs and of this node.
    const auto see = [&](std::uint32_t storage, std::int32_t slot) {
      if (seen_slot[storage] >= 0 && seen_at[storage] == p) return;
      seen_slot[storage] = slot;
      seen_at[storage] = p;
    };
    for (const Place input : orders.inputs(p))
      for (std::uint32_t s = first_slot_[input]; s < first_slot_[input + 1]; ++s)
        see(storages_[s], static_cast<std::int32_t>(s));
    for (const Tensor& t : graph.tensors(n)) {
      if (!t.storage) continue;
      if (!counts_on(graph, graph.device_type(t), device_)) continue;
      const StorageId real = graph.real_storage(t.storage);
      const std::int64_t bytes = allocated_bytes(graph.storage(real).bytes.value, device_);
      if (bytes == 0) continue;
      std::uint32_t& storage = dense[real.index()];
      if (storage == kUnknown) {
        storage = static_cast<std::uint32_t>(storage_bytes_.size());
        storage_bytes_.push_back(bytes);
        storage_producer_.push_back(p);
        is_held_.push_back(orders.has(p, PairOrders::is_placeholder) ||
                           orders.has(p, PairOrders::is_constant));
      }
      const auto slot = static_cast<std::int32_t>(storages_.size());
      const bool is_alias = seen_slot[storage] >= 0 && seen_at[storage] == p;
      storages_.push_back(storage);
      place_.push_back(p);
      aliases_.push_back(is_alias ? seen_slot[storage] : -1);
      see(storage, slot);
    }
    first_slot_.push_back(static_cast<std::uint32_t>(storages_.size()));
    value_bytes_.push_back(allocated_bytes(graph.output_bytes(n), device_));
    if (collectives_ != CollectiveLibrary::none && graph.is_collective_start(n))
      copy_bytes_[p] = collective_copy_bytes(graph, n, device_);
  }
  for (const Place p : orders.forward_outputs())
    for (const std::uint32_t storage : storages(p)) {
      results_.push_back(storage);
      is_held_[storage] = 1;
    }
  for (std::uint32_t i = 0; i < storage_bytes_.size(); ++i)
    if (is_held_[i] && !orders.has(storage_producer_[i], PairOrders::of_backward))
      held_bytes_ = saturating_add(held_bytes_, storage_bytes_[i]);
  if (options.optimizer != OptimizerState::none)
    for (const ParameterState& state : optimizer_states(graph, device_))
      optimizer_states_.push_back(state.bytes);
  for (const std::int64_t bytes : optimizer_states_)
    held_bytes_ = saturating_add(held_bytes_, bytes);
}

std::span<const std::uint32_t> PlanMemory::storages(Place place) const {
  return std::span(storages_).subspan(first_slot_[place],
                                      first_slot_[place + 1] - first_slot_[place]);
}

std::int64_t PlanMemory::added_bytes(const PairOrder& order, std::size_t slot) const {
  const std::size_t value_index = (slot - storages_.size()) / 2;
  if (value_index >= order.offloaded.size() && orders_.is_flat())
    return storage_bytes_[storages_[slot - storages_.size() - 2 * order.offloaded.size()]];
  if (value_index >= order.offloaded.size())
    return allocated_bytes(order.states[slot - storages_.size() - 2 * order.offloaded.size()].bytes,
                           device_);
  return value_bytes_[order.offloaded[value_index]];
}

void PlanMemory::hold_inputs(Lives& lives) const {
  for (Place p = 0; p < orders_.size(); ++p) {
    const bool is_constant = orders_.has(p, PairOrders::is_constant);
    if (!is_constant && !orders_.has(p, PairOrders::is_placeholder)) continue;
    if (orders_.has(p, PairOrders::of_backward)) continue;
    for (const std::uint32_t storage : storages(p)) {
      lives.allocate(storage, kBeforeStart);
      lives.use(storage, lives.end);
    }
  }
}

PlanMemory::Lives PlanMemory::live(const PairOrder& order) const {
  if (orders_.is_flat()) return live_in_step(order);
  Lives lives;
  const std::size_t storages_in_all =
      storage_bytes_.size() + storages_.size() + 2 * order.offloaded.size() + order.states.size();
  lives.storages.assign(storages_in_all, {});
  lives.backward_storage.assign(storages_.begin(), storages_.end());
  const auto calls_of = [&](std::span<const Place> half) {
    return static_cast<std::int32_t>(std::count_if(
        half.begin(), half.end(), [&](Place p) { return orders_.has(p, PairOrders::is_call); }));
  };
  const auto copies_in = [](std::span<const TransferCall> calls) {
    return static_cast<std::int32_t>(calls.size());
  };
  const std::int32_t forward_end = calls_of(order.forward) + copies_in(order.forward_transfers);
  lives.end = forward_end + calls_of(order.backward) + copies_in(order.backward_transfers);

  hold_inputs(lives);
  Uses uses(*this, order, lives);
  MemoryWalk walk(uses, 2 * orders_.size());
  // `backward` is an integral constant, so the code is compiled separately for each half.
  const auto run_half = [&](auto backward) {
    walk_half(
        orders_, order, backward,
        [&](Place p) {
          walk.run({p, backward});
        },
        [&](Place p) {
          uses.read_part({p, backward}, walk.step());
          walk.pass();
        },
        [&](const TransferCall& call) {
          uses.copy(call, walk.step());
          walk.pass();
        });
  };
  run_half(std::false_type{});
  for (const std::uint32_t storage : results_) lives.use(storage, lives.end);
  std::vector<std::uint8_t> is_offloaded(orders_.size(), 0);
  for (std::uint32_t v = 0; v < order.offloaded.size(); ++v) {
    const Place p = order.offloaded[v];
    is_offloaded[p] = 1;
    lives.use(host_storage(v), forward_end);
    for (std::uint32_t s = first_slot_[p]; s < first_slot_[p + 1]; ++s)
      lives.backward_storage[s] = reloaded_storage(v);
  }
  for (const Place p : order.saved)
    if (!is_offloaded[p])
      for (const std::uint32_t storage : storages(p)) lives.use(storage, forward_end);
  for (std::size_t state = 0; state < order.states.size(); ++state)
    lives.use(state_storage(order, state), forward_end);

  const std::int32_t appears = step_of_placeholder(forward_end, lives.end);
  for (Place p = 0; p < orders_.size(); ++p) {
    if (!orders_.has(p, PairOrders::of_backward)) continue;
    for (const std::uint32_t storage : storages(p)) {
      lives.allocate(storage, appears);
      lives.use(storage, orders_.has(p, PairOrders::is_tangent) ? forward_end : lives.end);
    }
  }
  run_half(std::true_type{});
  for (const Place p : orders_.backward_outputs()) uses.use(p, true, lives.end);
  walk.end();
  return lives;
}

template <class Visit>
void PlanMemory::visit_plan_bytes(const PairOrder& order, Visit visit) const {
  std::vector<std::uint8_t> is_counted(is_held_.begin(), is_held_.end());
  const auto visit_saved = [&](Place p, PlanAction action) {
    std::int64_t bytes = 0;
    for (const std::uint32_t storage : storages(p))
      if (!std::exchange(is_counted[storage], std::uint8_t{1})) bytes += storage_bytes_[storage];
    visit(p, action, bytes);
  };
  if (orders_.is_flat()) {
    // Count each storage with its first value, as partitioned_values does for a step.
    for (const Place p : order.saved)
      visit_saved(p,
                  order.value_of[p] == PairOrder::kNever ? PlanAction::save : PlanAction::offload);
    return;
  }
  std::vector<std::uint8_t> is_offloaded(orders_.size(), 0);
  for (std::uint32_t v = 0; v < order.offloaded.size(); ++v) {
    const Place p = order.offloaded[v];
    is_offloaded[p] = 1;
    visit(p, PlanAction::offload, storages(p).empty() ? 0 : bytes_of(order, host_storage(v)));
  }
  for (const Place p : order.saved)
    if (is_offloaded[p] == 0) visit_saved(p, PlanAction::save);
  if (!host_counts_) return;
  for (std::size_t state = 0; state < order.states.size(); ++state)
    visit(order.states[state].call, PlanAction::recompute,
          bytes_of(order, state_storage(order, state)));
}

std::vector<PlanMemory::PlanBytes> PlanMemory::plan_bytes(const PairOrder& order) const {
  std::vector<PlanBytes> held;
  visit_plan_bytes(order, [&](Place value, PlanAction action, std::int64_t bytes) {
    held.push_back({.value = value, .action = action, .bytes = bytes});
  });
  return held;
}

PlanMemory::Result PlanMemory::evaluate(const PairOrder& order) const {
  const Lives lives = live(order);
  Result result;
  result.profile.assign(1 + 2 * static_cast<std::size_t>(lives.end), 0);
  for (std::uint32_t i = 0; i < lives.storages.size(); ++i)
    if (const Lives::Storage& life = lives.storages[i]; life.first != kNeverAllocated)
      add_lifetime(result.profile, life.first, life.last, bytes_of(order, i));
  for (const Lives::Copy& copy : lives.copies)
    add_lifetime(result.profile, copy.first, copy.last, copy.bytes);
  for (const std::int64_t bytes : optimizer_states_)
    result.profile.front() = saturating_add(result.profile.front(), bytes);
  std::partial_sum(result.profile.begin(), result.profile.end(), result.profile.begin());
  result.peak_bytes = *std::max_element(result.profile.begin(), result.profile.end());
  visit_plan_bytes(order, [&](Place /*value*/, PlanAction action, std::int64_t bytes) {
    (action == PlanAction::offload ? result.offloaded_bytes : result.saved_bytes) += bytes;
  });
  return result;
}

std::int64_t PlanMemory::bytes_between(std::span<const Place> saved,
                                       std::span<const Place> offloaded) const {
  std::int64_t bytes = held_bytes_;
  std::vector<std::uint8_t> is_counted(is_held_.begin(), is_held_.end());
  for (const Place p : offloaded)
    for (const std::uint32_t storage : storages(p)) is_counted[storage] = 1;
  for (const Place p : saved)
    for (const std::uint32_t storage : storages(p))
      if (!std::exchange(is_counted[storage], std::uint8_t{1})) bytes += storage_bytes_[storage];
  return bytes;
}

// Within a step, memory is allocated in the order of MemoryTimeline: the tensors of a call by
// number, after those of the placeholders; at the start, the optimizer's state last.
std::int64_t PlanMemory::reserved_bytes(const PairOrder& order) const {
  if (device_ != DeviceType::cuda) return evaluate(order).peak_bytes;
  const Lives lives = live(order);
  std::vector<AllocatedBlock> blocks;
  blocks.reserve(lives.storages.size());
  for (std::uint32_t i = 0; i < lives.storages.size(); ++i)
    if (const Lives::Storage& life = lives.storages[i]; life.first != kNeverAllocated)
      blocks.push_back({.bytes = bytes_of(order, i), .first = life.first, .last = life.last});
  for (const Lives::Copy& copy : lives.copies)
    blocks.push_back({.bytes = copy.bytes, .first = copy.first, .last = copy.last});
  for (const std::int64_t bytes : optimizer_states_)
    blocks.push_back({.bytes = bytes, .first = kBeforeStart, .last = lives.end});
  // Reserved bytes never decrease.
  return replay_blocks(blocks, static_cast<std::size_t>(lives.end)).back();
}

std::vector<PlanMemory::Life> PlanMemory::saved_lives(const PairOrder& order) const {
  const Lives lives = live(order);
  std::vector<Life> saved;
  std::vector<std::uint8_t> is_counted(is_held_.begin(), is_held_.end());
  const auto add = [&](Place p, std::uint32_t storage) {
    const Lives::Storage& life = lives.storages[storage];
    if (life.first == kNeverAllocated) return;
    saved.push_back({.value = p, .first = begin_point(life.first), .last = end_point(life.last)});
  };
  for (const Place p : order.saved)
    for (const std::uint32_t storage : storages(p))
      if (!std::exchange(is_counted[storage], std::uint8_t{1})) add(p, storage);
  for (std::uint32_t v = 0; v < order.offloaded.size(); ++v)
    add(order.offloaded[v], reloaded_storage(v));
  return saved;
}

}  // namespace jointer
