#pragma once

#include <string>

#include "core/graph/graph.h"
#include "core/schedule/simulation.h"

namespace jointer::cli {

// The step as text, a call a line, with a lane for each communication stream beside it.
std::string schedule_text(const Graph& graph, const Simulation& simulation);

}  // namespace jointer::cli
