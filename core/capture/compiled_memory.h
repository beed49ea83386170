#pragma once

#include <cstddef>
#include <cstdint>

#include "core/capture/compiled_kernels.h"

namespace jointer {

// The memory of a compiled program, counted from its allocations and releases.
struct CompiledMemory {
  std::int64_t peak_bytes = 0;
  // Index of the first kernel that runs after the allocation that reaches the peak; 0 if the inputs
  // alone are the peak.
  std::size_t peak_kernel = 0;
  std::int64_t input_bytes = 0;    // of all inputs
  std::size_t unknown_blocks = 0;  // blocks whose bytes are unknown; they count as 0
  std::size_t assumed_blocks = 0;  // blocks whose data type is assumed
};

// Inputs are live from the start. As in Inductor's estimate, an input that the caller keeps, by its
// name (`primals_1`, `arg0_1`, `tangents_1`, states of random number generators), stays live to the
// end, and other inputs (values saved for backward) are released where the program deletes them.
// Blocks that are outputs stay live. Cost: linear.
CompiledMemory compiled_memory(const CompiledProgram& program);

}  // namespace jointer
