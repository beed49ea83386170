#pragma once

// Helpers for the passes that transform flat training steps.

#include <string>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Error (usage): the graph is neither a flat training step nor a joint graph.
Result<void> check_flat(const Graph& graph);

// A name that no node in the graph has: `base`, with a number appended if necessary.
std::string unused_name(const Graph& graph, const std::string& base);

}  // namespace jointer
