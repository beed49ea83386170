// Replays lifetimes in program order through the model of torch's caching allocator
// (cuda_allocator.cpp).
//
// Everything is allocated on one stream, so the pools of other streams stay empty: functional
// collectives allocate their outputs on the compute stream, and lifetimes include the time in which
// the communication stream still reads the memory (rule 4 of lifetimes.cpp).
//
// Cost: O(s log s + n) for s storages and n steps.

#include "core/schedule/caching_allocator.h"

#include <algorithm>

#include "core/schedule/block_replay.h"

namespace jointer {

ReservedProfile simulate_reserved(const MemoryTimeline& timeline, DeviceType device) {
  ReservedProfile result;
  const auto profile = timeline.profile();
  if (device != DeviceType::cuda) {
    result.bytes.assign(profile.begin(), profile.end());
    result.peak_bytes = timeline.peak_bytes();
    return result;
  }
  std::vector<AllocatedBlock> blocks;
  blocks.reserve(timeline.lifetimes().size());
  for (const Lifetime& each : timeline.lifetimes())
    blocks.push_back({.bytes = each.bytes, .first = each.first, .last = each.last});
  result.bytes = replay_blocks(blocks, timeline.steps().size());
  result.peak_bytes = *std::max_element(result.bytes.begin(), result.bytes.end());
  return result;
}

std::int64_t reserved_peak_bytes(const Graph& graph, const MemoryOptions& memory) {
  const MemoryTimeline timeline(graph, memory);
  return simulate_reserved(timeline, timeline.device()).peak_bytes;
}

}  // namespace jointer
