#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// How the runner runs the graph: its backends, by upstream's names.
std::vector<Pass> compile_passes();

}  // namespace jointer
