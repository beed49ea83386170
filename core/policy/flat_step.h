#pragma once

// Shared by the passes that transform flat training steps, whose graphs contain forward, loss and
// backward in this order.

#include <string>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Error (usage): the graph is a pair or half of a pair.
Result<void> check_flat(const Graph& graph);

// A name that no node of the graph has: `base`, with a number appended if necessary.
std::string unused_name(const Graph& graph, const std::string& base);

}  // namespace jointer
