#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes for expert parallelism: the token exchange of one chunk of a module overlaps with the
// compute of the other.
std::vector<Pass> ep_overlap_passes();

}  // namespace jointer
