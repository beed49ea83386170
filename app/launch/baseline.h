#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Compares what `graph` and its baseline return, before they run. Sizes known only at run time, and
// tensors that a file does not describe, are not compared. Error (usage): the number of outputs
// differs, or an output's type or shape does; the message names the first difference.
Result<void> check_baseline(const Graph& graph, const Graph& baseline);

}  // namespace jointer
