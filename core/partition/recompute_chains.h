#pragma once

// What making values again takes, each with all that it is made from. How is described at the top
// of recompute_chains.cpp.

#include <cstdint>
#include <span>
#include <vector>

#include "core/partition/pair_order.h"
#include "core/partition/plan_time.h"

namespace jointer {

struct RecomputeChain {
  std::int64_t ns = 0, flops = 0;
  std::size_t calls = 0;
};

// One for each of `values`, which are calls. `is_there`: by place, what need not be made again;
// a value's own chain begins with itself all the same.
std::vector<RecomputeChain> recompute_chains(const PairOrders& orders, const PlanTime& time,
                                             std::span<const std::uint8_t> is_there,
                                             std::span<const Place> values);

}  // namespace jointer
