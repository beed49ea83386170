#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Compares the outputs of `graph` with those of its baseline before either runs. Sizes that are
// known only at run time, and tensors that a file does not describe, are not compared. Error
// (usage): the number of outputs or an output's type or shape differs; the message names the first
// difference.
Result<void> check_baseline(const Graph& graph, const Graph& baseline);

}  // namespace jointer
