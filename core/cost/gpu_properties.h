#pragma once

// Describes a GPU that has no built-in description (core/cost/device.h) by the properties that its
// driver reports.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/cost/device.h"

namespace jointer {

// As reported by the CUDA driver. Clocks are maxima; 0 if not reported.
struct GpuProperties {
  std::string name;          // "NVIDIA L40S"
  int major = 0, minor = 0;  // compute capability
  std::int64_t multiprocessors = 0;
  std::int64_t sm_mhz = 0, memory_mhz = 0;
  std::int64_t memory_bus_bits = 0;
  std::int64_t memory_bytes = 0;
  friend bool operator==(const GpuProperties&, const GpuProperties&) = default;
};

// True if the properties suffice for a description: the multiprocessors and their clock are known.
bool can_describe(const GpuProperties& properties);

// The text for which load_device describes such a GPU, and the `id` of the description:
// `gpu{"name":"NVIDIA L40S",...}`.
std::string device_text(const GpuProperties& properties);
// True if load_device passes the text to load_gpu.
bool is_gpu_text(std::string_view text);
// Error (usage): the text is not the JSON of GpuProperties, or `can_describe` is false for it.
Result<DeviceDescription> load_gpu(std::string_view text);

// The name of the description of the GPU that the driver calls `name`.
std::string described_name(std::string_view name);

// The description computed from the properties. gpu_properties.cpp has the rules and their sources;
// the description's `sources` name them, and its `name` says that they are computed.
DeviceDescription describe_gpu(const GpuProperties& properties);

}  // namespace jointer
