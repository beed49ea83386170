#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/memory_timeline.h"

namespace jointer {

// The bytes that the caching allocator reserves while the graph runs: live bytes, free memory that
// it keeps, and the remainders of blocks that it does not split. MemoryTimeline::profile is a lower
// bound.
struct ReservedProfile {
  std::vector<std::int64_t> bytes;  // at the points of MemoryTimeline::profile
  std::int64_t peak_bytes = 0;
};

// Replays the lifetimes through a model of torch's CUDACachingAllocator with its default settings.
// The model also rounds sizes that the timeline does not, such as those of compiled kernels.
// On devices other than cuda, reserved bytes equal live bytes.
ReservedProfile simulate_reserved(const MemoryTimeline& timeline, DeviceType device);
// The peak of reserved bytes on the device type memory.runs_on or, if that is not set, on the
// graph's main device.
std::int64_t reserved_peak_bytes(const Graph& graph, const MemoryOptions& memory);

}  // namespace jointer
