#pragma once

// Computes the live bytes under a save plan without building the resulting graph. They equal those
// that MemoryTimeline computes, with rounded sizes, for the graph that emit_pair returns or, for a
// flat training step, for the graph that apply_step_tags makes. The top of plan_memory.cpp
// describes the algorithm.

#include <cstdint>
#include <span>
#include <vector>

#include "core/partition/pair_order.h"
#include "core/schedule/memory_timeline.h"

namespace jointer {

class PlanMemory {
 public:
  // `orders` must outlive this object.
  PlanMemory(const PairOrders& orders, const MemoryOptions& options);

  // The lifetime of one storage: live at the points `first` <= point < `last` of the profile.
  struct Life {
    Place value = 0;
    std::size_t first = 0, last = 0;
  };
  struct Result {
    std::vector<std::int64_t> profile;  // MemoryTimeline::profile
    std::int64_t peak_bytes = 0;
    std::int64_t saved_bytes = 0, offloaded_bytes = 0;
  };
  // Cost: linear in nodes and storages.
  [[nodiscard]] Result evaluate(const PairOrder& order) const;
  // The minimum of live bytes between the halves: the saved values that are not offloaded, and the
  // storages that are live anyway. Cost: linear in the values.
  [[nodiscard]] std::int64_t bytes_between(std::span<const Place> saved,
                                           std::span<const Place> offloaded) const;
  // The bytes that torch's caching allocator reserves; on devices that have none, the peak. Cost:
  // linear, plus O(log b) for each request, for b free blocks.
  [[nodiscard]] std::int64_t reserved_bytes(const PairOrder& order) const;
  // The lifetimes of the saved values and of the reloaded copies: one per storage, attributed to
  // the first saved value in it. Leaves out storages of values for which is_held is true.
  [[nodiscard]] std::vector<Life> saved_lives(const PairOrder& order) const;

  // Bytes that a plan holds until the backward, by value. The sums are those of Result.
  struct PlanBytes {
    Place value = 0;
    // recompute: `bytes` is the size of the generator state with which the call runs again.
    PlanAction action = PlanAction::save;
    std::int64_t bytes = 0;  // on the host if offloaded; a storage counts only for its first value
  };
  [[nodiscard]] std::vector<PlanBytes> plan_bytes(const PairOrder& order) const;

  // storages: the storages of a value. is_held: true if the storage does not depend on the plan,
  // because it belongs to an input, a constant or a result of the forward.
  [[nodiscard]] std::span<const std::uint32_t> storages(Place place) const;
  [[nodiscard]] bool is_held(std::uint32_t storage) const { return is_held_[storage] != 0; }
  [[nodiscard]] std::int64_t bytes(std::uint32_t storage) const { return storage_bytes_[storage]; }
  // The first node with a tensor in the storage: the one that allocates it, or an input.
  [[nodiscard]] Place producer(std::uint32_t storage) const { return storage_producer_[storage]; }
  // The bytes of the optimizer's state and of the held storages, except those that only the
  // backward has.
  [[nodiscard]] std::int64_t held_bytes() const { return held_bytes_; }
  [[nodiscard]] std::size_t storage_count() const { return storage_bytes_.size(); }

 private:
  struct Lives;
  template <class Derived>
  class CallUses;
  class Uses;
  class StepUses;

  [[nodiscard]] Lives live(const PairOrder& order) const;
  [[nodiscard]] Lives live_in_step(const PairOrder& order) const;
  void hold_inputs(Lives& lives) const;
  // Calls visit(value, action, bytes) for each entry of plan_bytes.
  template <class Visit>
  void visit_plan_bytes(const PairOrder& order, Visit visit) const;
  // The storages of an offloaded value: its host copy, and the reloaded value. They are numbered
  // after the slots.
  [[nodiscard]] std::uint32_t host_storage(std::uint32_t value) const {
    return static_cast<std::uint32_t>(storage_bytes_.size() + storages_.size()) + 2 * value;
  }
  [[nodiscard]] std::uint32_t reloaded_storage(std::uint32_t value) const {
    return host_storage(value) + 1;
  }
  // The storage of a generator's state. These storages are numbered after those of the offloaded
  // values; in a flat training step, those of repeated views, one per slot, are there instead.
  [[nodiscard]] std::uint32_t state_storage(const PairOrder& order, std::size_t state) const {
    return host_storage(static_cast<std::uint32_t>(order.offloaded.size())) +
           static_cast<std::uint32_t>(state);
  }
  [[nodiscard]] std::int64_t bytes_of(const PairOrder& order, std::uint32_t storage) const {
    if (storage < storage_bytes_.size()) return storage_bytes_[storage];
    const std::size_t slot = storage - storage_bytes_.size();
    return slot < storages_.size() ? storage_bytes_[storages_[slot]] : added_bytes(order, slot);
  }
  // The bytes of a storage that is numbered after the slots.
  [[nodiscard]] std::int64_t added_bytes(const PairOrder& order, std::size_t slot) const;

  const PairOrders& orders_;
  DeviceType device_;
  bool host_counts_ = false;  // host memory counts as device memory
  CollectiveLibrary collectives_;
  std::vector<std::uint32_t> storages_;  // by slot
  // Indexed by slot: an earlier slot in the same storage that belongs to an input of the slot's
  // node or to the node itself; -1 if there is none.
  std::vector<std::int32_t> aliases_;
  std::vector<std::uint32_t> first_slot_;       // by position
  std::vector<Place> place_;                    // by slot
  std::vector<std::int64_t> storage_bytes_;     // by storage
  std::vector<Place> storage_producer_;         // by storage
  std::vector<std::uint8_t> is_held_;           // by storage
  std::int64_t held_bytes_ = 0;                 // see held_bytes()
  std::vector<std::uint32_t> results_;          // storages of the forward's results
  std::vector<std::int64_t> copy_bytes_;        // by position: scratch bytes of a collective (Gloo)
  std::vector<std::int64_t> value_bytes_;       // by position: of a copy of the value
  std::vector<std::int64_t> optimizer_states_;  // bytes, one entry per parameter tensor
};

}  // namespace jointer
