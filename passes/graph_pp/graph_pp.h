#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// The passes for graph_trainer's pipeline parallelism, which split or combine the graphs of a
// stage.
std::vector<Pass> graph_pp_passes();

}  // namespace jointer
