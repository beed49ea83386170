#pragma once

// Groups values that a solver cannot tell apart by size and cost.

#include <cstdint>
#include <vector>

#include "core/partition/pair_order.h"
#include "core/partition/plan_time.h"

namespace jointer {

// Values of the forward are equal if the same operator computes them at the same position in their
// layers, and they have the same bytes, time and FLOPs. Outside layers, the position is the module.
class EqualValues {
 public:
  // Cost: O(n log n) in the calls of the forward.
  EqualValues(const PairOrders& orders, const PlanTime& time);

  // Equal values have the same number, starting at 1; everything but a call of the forward has 0.
  [[nodiscard]] std::uint32_t group(Place place) const { return group_[place]; }

 private:
  std::vector<std::uint32_t> group_;  // by position
};

}  // namespace jointer
