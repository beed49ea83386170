#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// graph_trainer's pipeline parallelism: what becomes of a stage's graph.
std::vector<Pass> graph_pp_passes();

}  // namespace jointer
