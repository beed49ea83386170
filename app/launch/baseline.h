#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Compares what `graph` and its baseline return, before they run. Sizes known only at run time, and
// tensors that a file does not describe, are not compared. Error (usage): another number of
// outputs, or an output of another type or shape; the message names the first one.
Result<void> check_baseline(const Graph& graph, const Graph& baseline);

}  // namespace jointer
