#pragma once

#include "core/graph/graph.h"

namespace jointer {

// Whoever calls a graph goes on calling it after a pass: the same placeholders in the same order,
// as many outputs, each None where it was, and each with its shape, dtype and kind of device. Of a
// pair: except what the forward saves for the backward. A pass that makes a pair is free to.
//
// Descriptors that `result` has lost, or has mixed up, become those of `given`: they say what is at
// a place, whatever node is there. Error (run), in one sentence about the pass ("it returned 25
// outputs instead of 26"): `result` is then as it was.
Result<void> keep_signature(const Graph& given, Graph& result);

}  // namespace jointer
