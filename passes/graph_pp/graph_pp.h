#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes of graph_trainer's pipeline parallelism, which cut or join the graphs of a stage.
std::vector<Pass> graph_pp_passes();

}  // namespace jointer
