#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/bench/measurement.h"

namespace jointer {

// What torch.cuda.memory._dump_snapshot wrote, as curves over time. Times count from the first
// entry of the allocator's trace.
struct MemorySnapshot {
  // `memory_over_time` is what was allocated: after each allocation and each free. It has no nodes.
  Measurement measurement;
  std::vector<MeasuredBytes> reserved;  // what the allocator held from the device
  std::int64_t peak_bytes = 0, reserved_peak_bytes = 0;
  std::int64_t device = 0;     // which GPU's trace it is
  std::size_t entries = 0;     // of that trace
  bool begins_before = false;  // memory was in use when the trace begins, or its ring overflowed
};

// The GPU with the longest trace, or the one asked for. Error (input): no such pickle (see Pickle),
// without a trace of allocations, or without times. Described in memory_snapshot.cpp.
Result<MemorySnapshot> read_memory_snapshot(std::string_view name, const PaddedBytes& bytes,
                                            std::optional<std::int64_t> device = std::nullopt);

}  // namespace jointer
