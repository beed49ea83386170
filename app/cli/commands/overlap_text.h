#pragma once

#include <string>

#include "core/graph/graph.h"
#include "core/schedule/simulation.h"

namespace jointer::cli {

// The simulated training step as text: one line for each call that takes time, each start of a
// collective and each wait, with a lane for each communication stream.
std::string schedule_text(const Graph& graph, const Simulation& simulation);

}  // namespace jointer::cli
