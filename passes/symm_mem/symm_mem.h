#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that use symmetric memory, in which kernels directly read and write other ranks' memory.
std::vector<Pass> symm_mem_passes();

}  // namespace jointer
