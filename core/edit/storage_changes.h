#pragma once

// Finds the nodes whose storages an edit must state explicitly, because names, calls and shapes do
// not show which tensors are views.

#include <functional>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Returns the common calls for which the edit must state the value, in the order of `after`. With
// these values stated, a graph with the nodes of `before` and the calls of `after` shares storages
// as `after` does. `keeps_value` returns true for a node of `after` whose value looks the same in
// both graphs; the other common calls are always in the result. Cost: linear.
std::vector<NodeId> storage_changes(const Graph& before, const Graph& after,
                                    const std::function<bool(NodeId)>& keeps_value);

}  // namespace jointer
