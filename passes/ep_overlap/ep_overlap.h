#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes for expert parallelism. They overlap the token exchange of one chunk of a module with the
// compute of the other chunk.
std::vector<Pass> ep_overlap_passes();

}  // namespace jointer
