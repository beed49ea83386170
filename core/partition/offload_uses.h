#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/lists.h"
#include "core/partition/offloadable.h"
#include "core/partition/pair_order.h"

namespace jointer {

// For each value of a joint graph: whether it can be offloaded, and the calls that use it, which
// determine where its copies run. Does not depend on the plan.
class OffloadUses {
 public:
  // A call that uses a storage: for its result, or for an input. A call whose result shares the
  // storage of an input counts for each.
  struct Use {
    Place call = 0;
    bool is_result = false;
  };

  // Cost: linear in nodes, edges and tensors.
  OffloadUses(const PairOrders& orders, const Offloadable& offloadable);

  [[nodiscard]] bool can_offload(Place value) const { return storage_[value] != kNone; }
  // The calls that use the storage of a value that can be offloaded.
  [[nodiscard]] std::span<const Use> of_storage(Place value) const {
    return uses_.of(storage_[value]);
  }
  // The calls that read the value itself.
  [[nodiscard]] std::span<const Place> readers(Place value) const { return readers_.of(value); }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::vector<std::uint32_t> storage_;  // by position; kNone if the value cannot be offloaded
  Lists<Use> uses_;                     // by storage
  Lists<Place> readers_;                // by position
};

}  // namespace jointer
