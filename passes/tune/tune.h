#pragma once

#include <vector>

#include "core/pass/pass.h"
#include "passes/tune/auto_tune.h"

namespace jointer {

// Passes that search for the best combination of passes. `make_registry` returns the passes to
// search.
std::vector<Pass> tune_passes(RegistryMaker make_registry);

}  // namespace jointer
