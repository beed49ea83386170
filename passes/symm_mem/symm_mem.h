#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that use symmetric memory, with which kernels directly read and write the memory of other
// ranks.
std::vector<Pass> symm_mem_passes();

}  // namespace jointer
