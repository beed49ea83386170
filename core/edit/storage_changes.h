#pragma once

// What edits must say about storages: names, calls and shapes do not tell what is a view of what.

#include <functional>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// The nodes that both have whose value must be said, in the order of `after`, so that tensors share
// storages as they do there once `before` has the calls of `after`. `keeps_value` says of one of
// `after` whether what it returns looks the same in both; where it does not, it is among them.
// Placeholders and constants never are: no edit changes what they return. Cost: linear.
std::vector<NodeId> storage_changes(const Graph& before, const Graph& after,
                                    const std::function<bool(NodeId)>& keeps_value);

}  // namespace jointer
