#pragma once

// The order in which the halves of a pair run. The rules are at the top of backward_order.cpp.

#include <span>

#include "core/graph/graph.h"
#include "core/partition/half.h"
#include "core/partition/partition.h"

namespace jointer {

// Each half as it was extracted becomes what is emitted. A backward runs what is made again right
// before what needs it, and loses calls that only others before the backward proper need. `inputs`:
// the backward's.
void arrange_forward(const Graph& joint, Partitioner partitioner, Half& forward);
void arrange_backward(const Graph& joint, Partitioner partitioner, std::span<const NodeId> inputs,
                      std::span<const NodeId> tangents, Half& backward);

}  // namespace jointer
