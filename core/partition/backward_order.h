#pragma once

// Orders the calls of the halves of a pair, by the rules of half_order.h.

#include <span>

#include "core/graph/graph.h"
#include "core/partition/half.h"
#include "core/partition/partition.h"

namespace jointer {

// Turns an extracted half into the order that is emitted. The backward recomputes a value right
// before its first use, and drops calls before the backward proper that only other such calls need.
// `inputs`: the inputs of the backward.
void arrange_forward(const Graph& joint, Partitioner partitioner, Half& forward);
void arrange_backward(const Graph& joint, Partitioner partitioner, std::span<const NodeId> inputs,
                      std::span<const NodeId> tangents, Half& backward);

}  // namespace jointer
