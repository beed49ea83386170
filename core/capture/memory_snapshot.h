#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/bench/measurement.h"

namespace jointer {

// A CUDA memory snapshot, as torch.cuda.memory._dump_snapshot writes it, as curves over time. Times
// are in nanoseconds from the first entry of the allocator's trace.
struct MemorySnapshot {
  // `memory_over_time` has the allocated bytes after each allocation and each free. No nodes.
  Measurement measurement;
  std::vector<MeasuredBytes> reserved;  // bytes that the allocator holds from the device
  std::int64_t peak_bytes = 0, reserved_peak_bytes = 0;
  std::int64_t device = 0;     // index of the GPU that the trace is of
  std::size_t entries = 0;     // number of entries in that trace
  bool begins_before = false;  // memory was in use when the trace began, or its ring overflowed
};

// Reads the trace of `device`; by default of the GPU with the longest trace. Error (input): not a
// pickle of a snapshot (see Pickle), or no trace of allocations with times. Described in
// memory_snapshot.cpp.
Result<MemorySnapshot> read_memory_snapshot(std::string_view name, const PaddedBytes& bytes,
                                            std::optional<std::int64_t> device = std::nullopt);

}  // namespace jointer
