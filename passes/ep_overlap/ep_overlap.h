#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes for expert parallelism. They overlap one chunk's token exchange with the other chunk's
// compute.
std::vector<Pass> ep_overlap_passes();

}  // namespace jointer
