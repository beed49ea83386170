#pragma once

// Finds buckets of neighboring collectives of the same kind, up to a maximum size.
// greedy_buckets.cpp describes the steps.

#include <cstdint>
#include <functional>
#include <span>

#include "passes/bucketing/overlap_bucketer.h"

namespace jointer {

// Finds buckets of collectives of one kind. `order` contains every position once and determines
// which waits are neighbors; it may break dependencies. `cap` is the maximum size of a bucket in
// bytes; the size of a member is the larger of its input and its result. `takes` returns true if a
// collective may join a bucket; excluded collectives do not separate neighbors. If `takes` is
// empty, all collectives may join.
Bucketing find_greedily(const OverlapGraph& graph, std::span<const Place> order,
                        CollectiveKind kind, std::int64_t cap,
                        const std::function<bool(std::uint32_t)>& takes = {});

}  // namespace jointer
