#pragma once

#include "core/graph/graph.h"

namespace jointer {

// Checks that a graph can be called in the same way after a pass: it must have the same
// placeholders in the same order and the same number of outputs, with None at the same positions.
// The current shapes, the dtypes and the device types must be unchanged. In a pair, values saved
// for backward are exempt. A pass that turns a graph into a pair, or a pair into one graph, is not
// checked.
//
// Descriptors of the inputs and, if the number of outputs is unchanged, of the outputs that are
// missing or wrong in `result` are restored from `given`, since a descriptor describes a position,
// not a node. Error (run): the signature differs; the message says what the pass did ("returned 25
// outputs instead of 26"). `result` is then unchanged.
Result<void> keep_signature(const Graph& given, Graph& result);

}  // namespace jointer
