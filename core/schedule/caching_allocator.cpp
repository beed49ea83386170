// Replays lifetimes in program order through the model of torch's caching allocator
// (cuda_allocator.cpp).
//
// Everything is allocated on one stream: functional collectives allocate their outputs on the
// compute stream, and lifetimes extend over the time in which the communication stream still reads
// the memory (rule 4 of lifetimes.cpp), so the pools of other streams stay empty.
//
// Cost: O(s log s) for s storages.

#include "core/schedule/caching_allocator.h"

#include <algorithm>

#include "core/schedule/cuda_allocator.h"

namespace jointer {

ReservedProfile simulate_reserved(const MemoryTimeline& timeline, DeviceType device) {
  ReservedProfile result;
  const auto profile = timeline.profile();
  if (device != DeviceType::cuda) {
    result.bytes.assign(profile.begin(), profile.end());
    result.peak_bytes = timeline.peak_bytes();
    return result;
  }
  // The lifetimes that begin and end at each step; those that are live from the start come first.
  const auto lifetimes = timeline.lifetimes();
  const std::size_t steps = timeline.steps().size();
  std::vector<std::vector<std::size_t>> allocated(steps + 1), freed(steps);
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    // A lifetime that begins at the start has `first` -1.
    allocated[static_cast<std::size_t>(std::int64_t{lifetimes[i].first} + 1)].push_back(i);
    if (const auto last = static_cast<std::size_t>(lifetimes[i].last); last < steps)
      freed[last].push_back(i);
  }

  CudaAllocator allocator;
  std::vector<CudaAllocator::BlockId> blocks(lifetimes.size(), CudaAllocator::kNone);
  result.bytes.reserve(profile.size());
  for (std::size_t point = 0; point <= steps; ++point) {
    for (const std::size_t i : allocated[point]) blocks[i] = allocator.allocate(lifetimes[i].bytes);
    result.bytes.push_back(allocator.reserved());
    if (point == 0) continue;
    for (const std::size_t i : freed[point - 1]) allocator.free(blocks[i]);
    result.bytes.push_back(allocator.reserved());
  }
  result.peak_bytes = *std::max_element(result.bytes.begin(), result.bytes.end());
  return result;
}

}  // namespace jointer
