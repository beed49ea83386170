#pragma once

// The JSON fields of GpuProperties.

#include <tuple>

#include "core/base/json_fields.h"
#include "core/cost/gpu_properties.h"

namespace jointer {

constexpr auto json_fields(const GpuProperties* /*of*/) {
  return std::tuple(json_field("name", &GpuProperties::name),
                    json_field("major", &GpuProperties::major),
                    json_field("minor", &GpuProperties::minor),
                    json_field("multiprocessors", &GpuProperties::multiprocessors),
                    json_field("sm_mhz", &GpuProperties::sm_mhz),
                    json_field("memory_mhz", &GpuProperties::memory_mhz),
                    json_field("memory_bus_bits", &GpuProperties::memory_bus_bits),
                    json_field("memory_bytes", &GpuProperties::memory_bytes));
}

}  // namespace jointer
