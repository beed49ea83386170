#pragma once

// Finds buckets of neighboring collectives of the same kind, up to a maximum size.
// greedy_buckets.cpp describes the steps.

#include <cstdint>
#include <functional>
#include <span>

#include "passes/bucketing/overlap_bucketer.h"

namespace jointer {

// Finds buckets of collectives of one kind. `order`: every position once; it determines which waits
// are neighbors, and may break dependencies. `cap`: maximum bytes on the larger side of a bucket.
// `takes`: true if a collective may be in a bucket; excluded collectives do not separate neighbors.
// If `takes` is empty, all collectives may be.
Bucketing find_greedily(const OverlapGraph& graph, std::span<const Place> order,
                        CollectiveKind kind, std::int64_t cap,
                        const std::function<bool(std::uint32_t)>& takes = {});

}  // namespace jointer
