#pragma once

// Costs for property tests.

#include <cstdint>
#include <vector>

#include "core/cost/estimator.h"
#include "core/graph/graph.h"

namespace jointer::test {

// One a node. The same seed gives the same costs: from a CPU that is never late to one that always
// is, some kernels that it waits for, collectives that are short and long beside them.
std::vector<NodeCost> random_costs(const Graph& graph, std::uint64_t seed);

}  // namespace jointer::test
