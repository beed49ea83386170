#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that tag values as saved, recomputed or offloaded, passes that apply these tags, and
// partitioners.
std::vector<Pass> sac_passes();

}  // namespace jointer
