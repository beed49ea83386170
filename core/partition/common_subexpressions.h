#pragma once

#include "core/graph/graph.h"

namespace jointer {

// Erases calls that compute what an earlier call computes, and lets their readers read that one.
// What counts as equal is at the top of common_subexpressions.cpp. The graph has one part.
void merge_common_subexpressions(Graph& graph);

}  // namespace jointer
