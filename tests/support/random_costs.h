#pragma once

// Costs for property tests.

#include <cstdint>
#include <vector>

#include "core/cost/estimator.h"
#include "core/graph/graph.h"

namespace jointer::test {

inline constexpr TransferCosts kTransfers{
    .ns_per_byte = 0.05, .min_ns = 20, .host_ns = 7, .wait_host_ns = 3};

// One cost per node. The same seed gives the same costs. Depending on the seed, the CPU is never
// late, always late, or in between; it waits for some kernels, and collectives are short or
// long compared with kernels.
std::vector<NodeCost> random_costs(const Graph& graph, std::uint64_t seed);

}  // namespace jointer::test
