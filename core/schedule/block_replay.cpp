#include "core/schedule/block_replay.h"

#include "core/schedule/cuda_allocator.h"

namespace jointer {

std::vector<std::int64_t> replay_blocks(std::span<const AllocatedBlock> blocks, std::size_t steps) {
  // The blocks that begin and end at each step; index 0 of `allocated` is before the first step.
  std::vector<std::vector<std::size_t>> allocated(steps + 1), freed(steps);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    // A block that is live from the start has a `first` of -1.
    allocated[static_cast<std::size_t>(std::int64_t{blocks[i].first} + 1)].push_back(i);
    if (const auto last = static_cast<std::size_t>(blocks[i].last); last < steps)
      freed[last].push_back(i);
  }

  CudaAllocator allocator;
  std::vector<CudaAllocator::BlockId> ids(blocks.size(), CudaAllocator::kNone);
  std::vector<std::int64_t> reserved;
  reserved.reserve(2 * steps + 1);
  for (std::size_t point = 0; point <= steps; ++point) {
    for (const std::size_t i : allocated[point]) ids[i] = allocator.allocate(blocks[i].bytes);
    reserved.push_back(allocator.reserved());
    if (point == 0) continue;
    for (const std::size_t i : freed[point - 1]) allocator.free(ids[i]);
    reserved.push_back(allocator.reserved());
  }
  return reserved;
}

}  // namespace jointer
