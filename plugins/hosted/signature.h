#pragma once

#include "core/graph/graph.h"

namespace jointer {

// Checks that callers of a graph can call it in the same way after a pass: it has the same
// placeholders in the same order and as many outputs, with None at the same positions. Each keeps
// its shape, dtype and kind of device. For a pair, values saved for backward are exempt. A pass
// that turns a graph into a pair is not checked.
//
// Descriptors that `result` has lost or confused are restored from `given`: a descriptor describes
// a position, not a node. Error (run), in one sentence about the pass ("returned 25 outputs
// instead of 26"); `result` is then unchanged.
Result<void> keep_signature(const Graph& given, Graph& result);

}  // namespace jointer
