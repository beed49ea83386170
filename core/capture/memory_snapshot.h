#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/bench/measurement.h"

namespace jointer {

// The memory curves of a CUDA memory snapshot, which torch.cuda.memory._dump_snapshot writes. Times
// are in nanoseconds from the first entry of the allocator's trace.
struct MemorySnapshot {
  // `memory_over_time` has the allocated bytes at the start, and after each allocation and each
  // release. `nodes` is empty.
  Measurement measurement;
  std::vector<MeasuredBytes> reserved;  // reserved bytes at the start, and after each change
  std::int64_t peak_bytes = 0, reserved_peak_bytes = 0;
  std::int64_t device = 0;     // index of the GPU whose trace was read
  std::size_t entries = 0;     // number of entries in that trace
  bool begins_before = false;  // memory was in use before the first entry
};

// Reads the trace of `device` or, if none is given, the longest trace of any GPU. Error (input):
// the file is not a pickle of a snapshot (see Pickle), or has no trace of allocations with times.
// memory_snapshot.cpp describes the steps.
Result<MemorySnapshot> read_memory_snapshot(std::string_view name, const PaddedBytes& bytes,
                                            std::optional<std::int64_t> device = std::nullopt);

}  // namespace jointer
