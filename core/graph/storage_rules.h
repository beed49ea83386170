#pragma once

// Determines the memory that a call's results may be in, from its operator.

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "core/graph/graph.h"

namespace jointer {

// Corrects storages that contradict the operators: in a capture taken after passes, a copied call
// may have the storage of the call it was copied from. The graph's facts give the number of
// corrected tensors. Call it before Graph::finish, when nodes, values and storages are complete.
void correct_storages(Graph& graph);

// The same after an edit, for the calls that it replaced and for views of their results; everything
// else stays. `was` holds nodes as they were before the edit: a replaced view that is not among
// them may lose its offset. `before_change` is called with each node right before its value is
// replaced.
void correct_replaced(Graph& graph, const std::unordered_set<NodeId>& replaced,
                      const std::unordered_map<NodeId, Node>& was,
                      const std::function<void(NodeId)>& before_change);

}  // namespace jointer
