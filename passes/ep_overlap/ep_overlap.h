#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes for expert parallelism: they overlap one chunk's token exchange with the compute of the
// module's other chunk.
std::vector<Pass> ep_overlap_passes();

}  // namespace jointer
