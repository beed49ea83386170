#pragma once

// Orders the calls of a pair's halves by the rules in half_order.h.

#include <span>

#include "core/graph/graph.h"
#include "core/partition/half.h"
#include "core/partition/partition.h"

namespace jointer {

// Put the calls of an extracted half into the order in which they are emitted, and drop those that
// are not emitted. `inputs`: all inputs of the backward, including `tangents`.
void arrange_forward(const Graph& joint, Partitioner partitioner, Half& forward);
void arrange_backward(const Graph& joint, Partitioner partitioner, std::span<const NodeId> inputs,
                      std::span<const NodeId> tangents, Half& backward);

}  // namespace jointer
