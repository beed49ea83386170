#pragma once

// The order in which the halves of a pair run. The rules are at the top of backward_order.cpp.

#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/half.h"

namespace jointer {

// The backward as autograd would run it: what is made again comes right before what needs it.
// `inputs`: the backward's. The same calls, without those that only others before the backward
// proper need.
void mimic_autograd_order(const Graph& joint, std::span<const NodeId> inputs,
                          std::span<const NodeId> tangents, Half& backward);

// Elements are taken out of a tuple right after it is made, so that those which nobody needs go.
void raise_getitems(const Graph& joint, Half& half);

// The second clean-up of default_partition.
void drop_unread_collectives(const Graph& joint, Half& half);

}  // namespace jointer
