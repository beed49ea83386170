#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes for symmetric memory: memory of other ranks that kernels read and write directly.
std::vector<Pass> symm_mem_passes();

}  // namespace jointer
