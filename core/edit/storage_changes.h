#pragma once

// Finds the storages that an edit must state explicitly, because names, calls and shapes do not
// show which tensors are views.

#include <functional>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// The common nodes whose values the edit must state, in the order of `after`, so that `before` with
// the calls of `after` shares storages as `after` does. `keeps_value` returns true for a node of
// `after` whose value looks the same in both graphs; the other common nodes are always in the
// result. Does not return placeholders or constants, whose values no edit changes. Cost: linear.
std::vector<NodeId> storage_changes(const Graph& before, const Graph& after,
                                    const std::function<bool(NodeId)>& keeps_value);

}  // namespace jointer
