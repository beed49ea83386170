#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/memory_timeline.h"

namespace jointer {

// Bytes that the caching allocator reserves while the program runs: live bytes plus the overhead of
// rounding, splitting and fragmentation. The profile of MemoryTimeline is a lower bound.
struct ReservedProfile {
  std::vector<std::int64_t> bytes;  // at the points of MemoryTimeline::profile
  std::int64_t peak_bytes = 0;
};

// Replays the lifetimes through a model of torch's CUDACachingAllocator with its default settings.
// On devices other than cuda, which have no caching allocator, reserved bytes equal live bytes.
ReservedProfile simulate_reserved(const MemoryTimeline& timeline, DeviceType device);
// The peak of reserved bytes, on the device that `memory` names or, if it names none, on the
// graph's device.
std::int64_t reserved_peak_bytes(const Graph& graph, const MemoryOptions& memory);

}  // namespace jointer
