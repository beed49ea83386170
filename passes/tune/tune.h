#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that search for the best other passes.
std::vector<Pass> tune_passes();

}  // namespace jointer
