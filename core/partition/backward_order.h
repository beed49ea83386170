#pragma once

// Orders the calls of a pair's halves by the rules in half_order.h.

#include <span>

#include "core/graph/graph.h"
#include "core/partition/half.h"
#include "core/partition/partition.h"

namespace jointer {

// Puts the calls of an extracted half into the order in which they are emitted. In the backward, a
// value is recomputed right before its first use, and calls that precede the backward proper are
// dropped if only such calls need them. `inputs`: the inputs of the backward.
void arrange_forward(const Graph& joint, Partitioner partitioner, Half& forward);
void arrange_backward(const Graph& joint, Partitioner partitioner, std::span<const NodeId> inputs,
                      std::span<const NodeId> tangents, Half& backward);

}  // namespace jointer
