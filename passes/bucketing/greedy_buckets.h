#pragma once

// Buckets of neighbouring collectives that are alike, up to a size. How is at the top of
// greedy_buckets.cpp.

#include <cstdint>
#include <functional>
#include <span>

#include "passes/bucketing/overlap_bucketer.h"

namespace jointer {

// Of collectives of one kind. `order`: all places, each once; which waits are neighbours goes by
// it, and it may break dependencies. `cap`: bytes of a bucket's larger side. `takes`: which may be
// in a bucket, by number; those that may not part nothing. Empty: all may.
Bucketing find_greedily(const OverlapGraph& graph, std::span<const Place> order,
                        CollectiveKind kind, std::int64_t cap,
                        const std::function<bool(std::uint32_t)>& takes = {});

}  // namespace jointer
