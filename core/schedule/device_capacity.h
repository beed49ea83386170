#pragma once

// Compares a graph's peak with the memory of a device. Benchmarks do the same before they start
// ranks on a GPU (app/launch/memory_need.h).

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/cost/device.h"

namespace jointer {

// The bytes that a graph may allocate; nullopt if the device's memory is unknown.
inline std::optional<std::int64_t> capacity_bytes(const DeviceDescription& device) {
  return device.memory_bytes > 0 ? std::optional(device.memory_bytes) : std::nullopt;
}

// The bytes by which a peak exceeds the device's memory; 0 if it fits or the memory is unknown.
inline std::int64_t bytes_over_capacity(std::int64_t peak_bytes, const DeviceDescription& device) {
  return std::max<std::int64_t>(peak_bytes - capacity_bytes(device).value_or(peak_bytes), 0);
}

}  // namespace jointer
