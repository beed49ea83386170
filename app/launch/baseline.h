#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Checks, before either runs, that the outputs of `graph` and of its baseline have the same number,
// types and shapes. Ignores sizes that are known only at run time, and tensors that a file does not
// describe. Error (usage): they differ; the message names the first difference.
Result<void> check_baseline(const Graph& graph, const Graph& baseline);

}  // namespace jointer
