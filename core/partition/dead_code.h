#pragma once

// Eliminates dead code as torch does. The top of dead_code.cpp states the rules.

#include "core/graph/graph.h"

namespace jointer {

// True for a call that stays even if nothing reads its result, for example because it writes,
// waits, checks or prints.
bool is_impure(const Graph& graph, const Node& node);

// Erases calls and constants that nothing needs. The graph must have one part.
void eliminate_dead_code(Graph& graph);

}  // namespace jointer
