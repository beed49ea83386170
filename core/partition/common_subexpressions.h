#pragma once

#include "core/graph/graph.h"

namespace jointer {

// Erases calls that compute the same value as an earlier call, and redirects their readers to it.
// The top of common_subexpressions.cpp states when calls are equal. The graph must have one part.
void merge_common_subexpressions(Graph& graph);

}  // namespace jointer
