#pragma once

#include "core/pass/registry.h"

namespace jointer {

// Creates a registry of all built-in passes. The caller may add plugins and Python passes to it.
PassRegistry built_in_passes();

}  // namespace jointer
