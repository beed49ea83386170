#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that use symmetric memory, which lets kernels read and write the memory of other ranks
// directly.
std::vector<Pass> symm_mem_passes();

Pass async_tensor_parallel_pass();
Pass low_contention_collectives_pass();

}  // namespace jointer
