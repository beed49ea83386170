#pragma once

// Compares a graph's storages with what its operators can return, and corrects them.

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "core/graph/graph.h"

namespace jointer {

// Corrects storages that contradict the operators: in a capture taken after passes, a copied call
// may have the storage of its original. Graph::facts reports the number of corrected tensors. Call
// this before Graph::finish, once nodes, values and storages are complete.
void correct_storages(Graph& graph);

// Does the same after an edit, for the calls that the edit replaced and for calls that read a value
// changed here; everything else is unchanged. `was` holds nodes as they were before the edit; a
// replaced view that is not in `was` may lose its offset. Calls `before_change` with each node just
// before replacing the node's value.
void correct_replaced(Graph& graph, const std::unordered_set<NodeId>& replaced,
                      const std::unordered_map<NodeId, Node>& was,
                      const std::function<void(NodeId)>& before_change);

}  // namespace jointer
