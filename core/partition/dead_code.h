#pragma once

// What torch's clean-up takes as dead: see dead_code.cpp.

#include "core/graph/graph.h"

namespace jointer {

// Whether a call stays although nobody reads what it returns: it writes, waits, checks, prints.
bool is_impure(const Graph& graph, const Node& node);

// Erases calls and constants that nobody needs. The graph has one part.
void eliminate_dead_code(Graph& graph);

}  // namespace jointer
