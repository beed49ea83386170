#pragma once

// Finds buckets of neighboring collectives of the same kind, up to a size. greedy_buckets.cpp
// describes the steps.

#include <cstdint>
#include <functional>
#include <span>

#include "passes/bucketing/overlap_bucketer.h"

namespace jointer {

// Finds buckets of collectives of one kind. `order`: all places, each once; it determines which
// waits are neighbors, and may break dependencies. `cap`: bytes on a bucket's larger side.
// `takes`: true for collectives that may be in a bucket, by number; others do not separate
// neighbors. Empty: all may.
Bucketing find_greedily(const OverlapGraph& graph, std::span<const Place> order,
                        CollectiveKind kind, std::int64_t cap,
                        const std::function<bool(std::uint32_t)>& takes = {});

}  // namespace jointer
