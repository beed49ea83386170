#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes for expert parallelism. Together, they overlap token exchanges with compute.
std::vector<Pass> ep_overlap_passes();

}  // namespace jointer
