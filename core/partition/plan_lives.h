#pragma once

// The lifetimes of a plan's storages, shared by the source files of PlanMemory. Not a public
// header.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/partition/pair_order.h"
#include "core/partition/plan_memory.h"

namespace jointer {

inline constexpr std::int32_t kNeverAllocated = -2;  // for a storage that is never allocated

struct PlanMemory::Lives {
  // The first and the last step of a storage.
  struct Storage {
    std::int32_t first = kNeverAllocated, last = kNeverAllocated;

    void use(std::int32_t at) { last = std::max(last, at); }
    void allocate(std::int32_t at) {
      if (first != kNeverAllocated) return;
      first = at;
      use(at);
    }
  };
  // A buffer that the collective library allocates.
  struct Copy {
    std::int64_t bytes = 0;
    std::int32_t first = 0, last = 0;
  };
  // The storages of the forward, then those of the backward by slot, then those that a plan adds
  // (PlanMemory::host_storage).
  std::vector<Storage> storages;
  std::vector<std::uint32_t> backward_storage;  // by slot
  std::vector<Copy> copies;
  std::int32_t end = 0;

  void use(std::uint32_t storage, std::int32_t at) { storages[storage].use(at); }
  void allocate(std::uint32_t storage, std::int32_t at) { storages[storage].allocate(at); }
};

// The parts of the `Uses` of MemoryWalk that are the same for a plan's pair and for a flat training
// step. `Derived` has `index(call)` and `use_inputs(call, step)`.
template <class Derived>
class PlanMemory::CallUses {
 public:
  template <class Call>
  [[nodiscard]] bool is_start(const Call& call) const {
    return orders_.has(call.place, PairOrders::is_start);
  }
  template <class Call>
  void start(const Call& call, std::int32_t step) {
    if (copy_of_.empty() || memory_.copy_bytes_[call.place] <= 0) return;
    copy_of_[derived().index(call)] = static_cast<std::uint32_t>(lives_.copies.size());
    lives_.copies.push_back(
        {.bytes = memory_.copy_bytes_[call.place], .first = step, .last = step});
  }
  template <class Call>
  void keep_inputs(const Call& start, std::int32_t step) {
    derived().use_inputs(start, step);
    if (copy_of_.empty()) return;
    if (const std::uint32_t copy = copy_of_[derived().index(start)]; copy != kNone)
      lives_.copies[copy].last = step;
  }

 protected:
  // `calls`: greater than every `index(call)`.
  CallUses(const PlanMemory& memory, const PairOrder& order, Lives& lives, std::size_t calls)
      : memory_(memory), orders_(memory.orders_), order_(order), lives_(lives) {
    if (memory.collectives_ != CollectiveLibrary::none) copy_of_.assign(calls, kNone);
  }

  // Visits a copy of an offloaded value to the host or back, or the wait for the copy.
  // `use_original` marks the storages of the value itself as used.
  template <class Kind, class UseOriginal>
  void visit_copy(Kind kind, std::uint32_t value, UseOriginal use_original, std::int32_t step) {
    const std::uint32_t host = memory_.host_storage(value);
    const std::uint32_t back = memory_.reloaded_storage(value);
    const bool counts = !memory_.storages(order_.offloaded[value]).empty();
    if (kind == Kind::offload && memory_.host_counts_ && counts) lives_.allocate(host, step);
    if (kind == Kind::reload && counts) lives_.allocate(back, step);
    if (kind == Kind::offload || kind == Kind::offload_wait)
      use_original();
    else
      lives_.use(back, step);
    lives_.use(host, step);
  }

  const PlanMemory& memory_;
  const PairOrders& orders_;
  const PairOrder& order_;
  Lives& lives_;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  [[nodiscard]] Derived& derived() { return static_cast<Derived&>(*this); }

  std::vector<std::uint32_t> copy_of_;  // by start; empty if the collective library makes no copies
};

}  // namespace jointer
