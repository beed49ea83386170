#pragma once

#include "core/pass/registry.h"

namespace jointer {

// A registry with every pass that comes with the program. Each call makes a new one, to which its
// owner may add plugins and Python passes.
PassRegistry built_in_passes();

}  // namespace jointer
