#pragma once

// Computes the cost of recomputing values, including all calls that must be recomputed for them.
// The top of recompute_chains.cpp describes the algorithm.

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

// Returns one chain for each of `values`, which must be calls. `is_there`: indexed by position,
// true if the value is available and need not be recomputed. A chain always includes the call
// itself.
std::vector<RecomputeChain> recompute_chains(const PairOrders& orders, const PlanTime& time,
                                             std::span<const std::uint8_t> is_there,
                                             std::span<const Place> values);

}  // namespace jointer
