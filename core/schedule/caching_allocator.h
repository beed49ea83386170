#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/memory_timeline.h"

namespace jointer {

// What a caching allocator takes from the device while the program runs: live bytes plus what
// rounding, splitting and fragmentation cost. MemoryTimeline's profile is its lower bound.
struct ReservedProfile {
  std::vector<std::int64_t> bytes;  // at the points of MemoryTimeline::profile
  std::int64_t peak_bytes = 0;
};

// Runs the lifetimes through a model of torch's CUDACachingAllocator with its default settings. On
// other devices nothing is cached: reserved is live.
ReservedProfile simulate_reserved(const MemoryTimeline& timeline, DeviceType device);

}  // namespace jointer
