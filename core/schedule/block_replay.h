#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace jointer {

// A request whose block is live from step `first` (-1: from the start) to the end of step `last`
// (the number of steps: never freed). Steps are numbered as in lifetimes.h.
struct AllocatedBlock {
  std::int64_t bytes = 0;
  std::int32_t first = 0, last = 0;
};

// Replays requests through a model of torch's CUDACachingAllocator with its default settings.
// Returns the reserved bytes at the points of MemoryTimeline::profile. The requests in a step are
// served in the order of `blocks`. Cost: O(b log b + s) for b blocks and s steps.
std::vector<std::int64_t> replay_blocks(std::span<const AllocatedBlock> blocks, std::size_t steps);

}  // namespace jointer
