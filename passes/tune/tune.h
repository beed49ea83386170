#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// What looks for the other passes that serve best.
std::vector<Pass> tune_passes();

}  // namespace jointer
