// Computes the memory profile of a pair that was not built: the rules of lifetimes.cpp, applied to
// positions in the joint graph.
//
// Terms
//   slot     a tensor of a node that takes memory on the device.
//   storage  in the forward, the joint graph's. In the backward, recomputed values get new
//            storages, one per slot that is not an alias.
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
//   1. Walk the forward's calls in order: each allocates its new storages, and extends the lives of
//      its inputs' storages. Results of the forward live to the end, saved values until the first
//      step of the backward.
//   2. Walk the backward's calls in the same way; a saved value is in the forward's storage. A wait
//      extends the lives of its collective's inputs; a collective without a wait extends them to
//      the end.
//   3. Sum the changes at the points of the profile.
//
// Cost: linear in nodes, edges and tensors, over arrays in the order of the walk.

#include "core/partition/plan_memory.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "core/base/checked.h"
#include "core/schedule/collective_copies.h"

namespace jointer {
namespace {

constexpr std::int32_t kUnborn = -2, kBeforeStart = -1;
// The half in which a collective is waited for.
constexpr std::uint8_t kInTheOther = 1, kInItsHalf = 2;

}  // namespace

// First and last step of every storage: those of the forward, then those of the backward by slot.
struct PlanMemory::Lives {
  std::vector<std::int32_t> first, last;
  std::vector<std::uint32_t> backward_storage;      // by slot
  std::vector<std::uint8_t> is_waited;              // by place, forward then backward
  std::vector<std::pair<Place, bool>> starts;       // start, and true if it is in the backward
  std::vector<std::int32_t> copy_first, copy_last;  // by place, forward then backward
  std::int32_t step = 0, end = 0;

  void use(std::uint32_t storage, std::int32_t at) { last[storage] = std::max(last[storage], at); }
  void allocate(std::uint32_t storage, std::int32_t at) {
    if (first[storage] != kUnborn) return;
    first[storage] = at;
    last[storage] = std::max(last[storage], at);
  }
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
  for (Place p = 0; p < orders.size(); ++p) {
    const Node& n = graph.node(orders.node(p));
    // The first slot of its inputs in each storage.
    const auto see = [&](std::uint32_t storage, std::int32_t slot) {
      if (seen_slot[storage] >= 0 && seen_at[storage] == p) return;
      seen_slot[storage] = slot;
      seen_at[storage] = p;
    };
    for (const Place input : orders.inputs(p))
      for (std::uint32_t s = first_slot_[input]; s < first_slot_[input + 1]; ++s)
        see(slots_[s].storage, static_cast<std::int32_t>(s));
    for (const Tensor& t : graph.tensors(n)) {
      if (!t.storage) continue;
      const DeviceType type = graph.device_type(t);
      if (type != graph.main_device() && type != device_) continue;
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
      const auto slot = static_cast<std::int32_t>(slots_.size());
      const bool is_alias = seen_slot[storage] >= 0 && seen_at[storage] == p;
      slots_.push_back({.storage = storage, .alias = is_alias ? seen_slot[storage] : -1});
      storages_.push_back(storage);
      see(storage, slot);
    }
    first_slot_.push_back(static_cast<std::uint32_t>(slots_.size()));
    if (collectives_ != CollectiveLibrary::none && graph.is_collective_start(n))
      copy_bytes_[p] = collective_copy_bytes(graph, n, device_);
  }
  for (const Place p : orders.forward_outputs())
    for (const std::uint32_t storage : storages(p)) {
      results_.push_back(storage);
      is_held_[storage] = 1;
    }
  if (options.optimizer != OptimizerState::none)
    optimizer_bytes_ = optimizer_state_bytes(graph, device_);
}

std::span<const std::uint32_t> PlanMemory::storages(Place place) const {
  return std::span(storages_).subspan(first_slot_[place],
                                      first_slot_[place + 1] - first_slot_[place]);
}

std::int64_t PlanMemory::bytes_of(const PairOrder& order, std::uint32_t storage) const {
  if (storage < storage_bytes_.size()) return storage_bytes_[storage];
  const std::size_t slot = storage - storage_bytes_.size();
  if (slot < slots_.size()) return storage_bytes_[storages_[slot]];
  if (const std::size_t value = (slot - slots_.size()) / 2; value >= order.offloaded.size())
    return allocated_bytes(order.states[slot - slots_.size() - 2 * order.offloaded.size()].bytes,
                           device_);
  // Only the value is copied, not the rest of its storage.
  const Graph& graph = orders_.graph();
  const Node& value = graph.node(orders_.node(order.offloaded[(slot - slots_.size()) / 2]));
  return allocated_bytes(graph.output_bytes(value), device_);
}

void PlanMemory::transfer(const PairOrder& order, const TransferCall& call, Lives& lives) const {
  using Kind = TransferCall::Kind;
  const Place p = order.offloaded[call.value];
  const std::uint32_t host = host_storage(call.value), back = reloaded_storage(call.value);
  const bool counts = !storages(p).empty();
  if (call.kind == Kind::offload && host_counts_ && counts) lives.allocate(host, lives.step);
  if (call.kind == Kind::reload && counts) lives.allocate(back, lives.step);
  if (call.kind == Kind::offload || call.kind == Kind::offload_wait)
    for (const std::uint32_t storage : storages(p)) lives.use(storage, lives.step);
  else
    lives.use(back, lives.step);
  lives.use(host, lives.step);
  ++lives.step;
}

void PlanMemory::run_half(const PairOrder& order, bool backward, Lives& lives) const {
  const auto storage_of = [&](std::uint32_t slot) {
    return backward ? lives.backward_storage[slot] : slots_[slot].storage;
  };
  const auto use_inputs = [&](Place p, bool in_backward, std::int32_t at) {
    for (const Place input : orders_.inputs(p))
      for (std::uint32_t s = first_slot_[input]; s < first_slot_[input + 1]; ++s)
        lives.use(in_backward ? lives.backward_storage[s] : slots_[s].storage, at);
  };
  const auto own = static_cast<std::uint32_t>(storage_bytes_.size());
  const std::size_t half = backward ? orders_.size() : 0;
  const auto& transfers = backward ? order.backward_transfers : order.forward_transfers;
  auto next = transfers.begin();
  std::size_t at_call = 0;
  Place previous = ~Place{0};
  for (const Place p : backward ? order.backward : order.forward) {
    if (orders_.has(p, PairOrders::is_constant)) continue;  // counted as an input
    for (; next != transfers.end() && next->before <= at_call; ++next)
      transfer(order, *next, lives);
    ++at_call;
    // The state of a generator is on the host.
    const auto state = host_counts_ && !order.states.empty() ? order.state_of(p) : std::nullopt;
    if (state) {
      if (!backward) lives.allocate(state_storage(order, *state), lives.step);
      lives.use(state_storage(order, *state), lives.step);
    }
    if (p == previous) {  // reads a part of the previous call's result
      for (std::uint32_t s = first_slot_[p]; s < first_slot_[p + 1]; ++s)
        lives.use(storage_of(s), lives.step);
      ++lives.step;
      continue;
    }
    previous = p;
    for (std::uint32_t s = first_slot_[p]; s < first_slot_[p + 1]; ++s) {
      if (backward)
        lives.backward_storage[s] =
            slots_[s].alias >= 0 ? lives.backward_storage[static_cast<std::size_t>(slots_[s].alias)]
                                 : own + s;
      lives.allocate(storage_of(s), lives.step);
    }
    use_inputs(p, backward, lives.step);
    if (orders_.has(p, PairOrders::is_start)) {
      lives.starts.emplace_back(p, backward);
      lives.copy_first[half + p] = lives.step;
      lives.copy_last[half + p] = lives.end;
    } else if (orders_.has(p, PairOrders::is_wait)) {
      if (const auto c = orders_.collective_of_wait(p, backward, order.given); c.found) {
        const std::size_t index = (c.backward ? orders_.size() : 0) + c.start;
        const bool is_elsewhere = c.backward != backward;
        // If the forward has already waited, the collective is done (collective_waits.h).
        if (!is_elsewhere || lives.is_waited[index] != kInItsHalf) {
          lives.is_waited[index] = is_elsewhere ? kInTheOther : kInItsHalf;
          lives.copy_last[index] = lives.step;
          use_inputs(c.start, c.backward, lives.step);
        }
      }
    }
    ++lives.step;
  }
  for (; next != transfers.end(); ++next) transfer(order, *next, lives);
}

PlanMemory::Lives PlanMemory::live(const PairOrder& order) const {
  Lives lives;
  const std::size_t storages_in_all =
      storage_bytes_.size() + slots_.size() + 2 * order.offloaded.size() + order.states.size();
  lives.first.assign(storages_in_all, kUnborn);
  lives.last.assign(storages_in_all, kUnborn);
  lives.backward_storage.assign(storages_.begin(), storages_.end());
  lives.is_waited.assign(2 * orders_.size(), 0);
  lives.copy_first.assign(2 * orders_.size(), 0);
  lives.copy_last.assign(2 * orders_.size(), 0);
  const auto calls_of = [&](std::span<const Place> half) {
    return static_cast<std::int32_t>(std::count_if(
        half.begin(), half.end(), [&](Place p) { return orders_.has(p, PairOrders::is_call); }));
  };
  const auto copies_in = [](std::span<const TransferCall> calls) {
    return static_cast<std::int32_t>(calls.size());
  };
  const std::int32_t forward_end = calls_of(order.forward) + copies_in(order.forward_transfers);
  lives.end = forward_end + calls_of(order.backward) + copies_in(order.backward_transfers);

  for (Place p = 0; p < orders_.size(); ++p) {
    const bool is_constant = orders_.has(p, PairOrders::is_constant);
    if (!is_constant && !orders_.has(p, PairOrders::is_placeholder)) continue;
    if (orders_.has(p, PairOrders::of_backward)) continue;
    for (const std::uint32_t storage : storages(p)) {
      lives.allocate(storage, kBeforeStart);
      lives.use(storage, lives.end);
    }
  }
  run_half(order, false, lives);
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

  const std::int32_t appears =
      forward_end == 0 ? kBeforeStart : std::min(forward_end, lives.end - 1);
  for (Place p = 0; p < orders_.size(); ++p) {
    if (!orders_.has(p, PairOrders::of_backward)) continue;
    for (const std::uint32_t storage : storages(p)) {
      lives.allocate(storage, appears);
      lives.use(storage, orders_.has(p, PairOrders::is_tangent) ? forward_end : lives.end);
    }
  }
  run_half(order, true, lives);
  for (const Place p : orders_.backward_outputs())
    for (std::uint32_t s = first_slot_[p]; s < first_slot_[p + 1]; ++s)
      lives.use(lives.backward_storage[s], lives.end);
  for (const auto& [start, backward] : lives.starts) {
    if (lives.is_waited[(backward ? orders_.size() : 0) + start]) continue;
    for (const Place input : orders_.inputs(start))
      for (std::uint32_t s = first_slot_[input]; s < first_slot_[input + 1]; ++s)
        lives.use(backward ? lives.backward_storage[s] : slots_[s].storage, lives.end);
  }
  return lives;
}

PlanMemory::Result PlanMemory::evaluate(const PairOrder& order) const {
  const Lives lives = live(order);
  Result result;
  result.profile.assign(1 + 2 * static_cast<std::size_t>(lives.end), 0);
  const auto add = [&](std::int32_t first, std::int32_t last, std::int64_t bytes) {
    const auto from = static_cast<std::size_t>(first < 0 ? 0 : 1 + 2 * std::int64_t{first});
    const auto until = static_cast<std::size_t>(2 + 2 * std::int64_t{last});
    result.profile[from] += bytes;
    if (until < result.profile.size()) result.profile[until] -= bytes;
  };
  for (std::size_t i = 0; i < lives.first.size(); ++i)
    if (lives.first[i] != kUnborn)
      add(lives.first[i], lives.last[i], bytes_of(order, static_cast<std::uint32_t>(i)));
  if (collectives_ != CollectiveLibrary::none)
    for (const auto& [start, backward] : lives.starts) {
      const std::size_t index = (backward ? orders_.size() : 0) + start;
      if (copy_bytes_[start] > 0)
        add(lives.copy_first[index], lives.copy_last[index], copy_bytes_[start]);
    }
  result.profile.front() += optimizer_bytes_;
  std::partial_sum(result.profile.begin(), result.profile.end(), result.profile.begin());
  result.peak_bytes = *std::max_element(result.profile.begin(), result.profile.end());
  std::vector<std::uint8_t> is_counted(is_held_.begin(), is_held_.end()),
      is_offloaded(orders_.size(), 0);
  for (std::uint32_t v = 0; v < order.offloaded.size(); ++v) {
    is_offloaded[order.offloaded[v]] = 1;
    if (!storages(order.offloaded[v]).empty())
      result.offloaded_bytes += bytes_of(order, host_storage(v));
  }
  for (const Place p : order.saved)
    for (const std::uint32_t storage : storages(p))
      if (!is_offloaded[p] && !std::exchange(is_counted[storage], std::uint8_t{1}))
        result.saved_bytes += storage_bytes_[storage];
  for (std::size_t state = 0; state < order.states.size(); ++state)
    if (host_counts_) result.saved_bytes += bytes_of(order, state_storage(order, state));
  return result;
}

std::vector<PlanMemory::Life> PlanMemory::saved_lives(const PairOrder& order) const {
  const Lives lives = live(order);
  std::vector<Life> saved;
  std::vector<std::uint8_t> is_counted(is_held_.begin(), is_held_.end());
  const auto add = [&](Place p, std::uint32_t storage) {
    if (lives.first[storage] == kUnborn) return;
    saved.push_back({.producer = p,
                     .bytes = bytes_of(order, storage),
                     .first = static_cast<std::size_t>(1 + 2 * std::int64_t{lives.first[storage]}),
                     .last = static_cast<std::size_t>(2 + 2 * std::int64_t{lives.last[storage]})});
  };
  for (const Place p : order.saved)
    for (const std::uint32_t storage : storages(p))
      if (!std::exchange(is_counted[storage], std::uint8_t{1})) add(p, storage);
  for (std::uint32_t v = 0; v < order.offloaded.size(); ++v)
    add(order.offloaded[v], reloaded_storage(v));
  return saved;
}

}  // namespace jointer
