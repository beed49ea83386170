#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes for expert parallelism: exchanges of tokens overlap with compute of a module's other
// chunk.
std::vector<Pass> ep_overlap_passes();

}  // namespace jointer
