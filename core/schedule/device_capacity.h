#pragma once

// Compares a graph's peak with the memory that a device has for it. Benchmarks do the same before
// they start ranks on a GPU (app/launch/memory_need.h).

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/cost/device.h"

namespace jointer {

// The bytes that torch's allocator can get from the device; nullopt if the device's memory is
// unknown.
inline std::optional<std::int64_t> capacity_bytes(const DeviceDescription& device) {
  if (device.memory_bytes <= 0) return std::nullopt;
  return device.memory_bytes - device.outside_bytes;
}

// The bytes by which a peak exceeds this capacity; 0 if it fits or the memory is unknown.
inline std::int64_t bytes_over_capacity(std::int64_t peak_bytes, const DeviceDescription& device) {
  return std::max<std::int64_t>(peak_bytes - capacity_bytes(device).value_or(peak_bytes), 0);
}

}  // namespace jointer
