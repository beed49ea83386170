#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Who is saved, recomputed or offloaded, and the partitioners.
std::vector<Pass> sac_passes();

}  // namespace jointer
