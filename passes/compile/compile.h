#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that choose how the runner runs the graph. They have the same names as upstream.
std::vector<Pass> compile_passes();

}  // namespace jointer
