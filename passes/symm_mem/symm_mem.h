#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Collectives over symmetric memory: memory of other ranks that a kernel reads and writes itself.
std::vector<Pass> symm_mem_passes();

}  // namespace jointer
