#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that merge several collectives into one.
std::vector<Pass> bucketing_passes();

}  // namespace jointer
