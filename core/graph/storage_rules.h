#pragma once

// Which memory a call's results may lie in, decided by what the operator is.

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "core/graph/graph.h"

namespace jointer {

// Mends storages that the operators contradict: captures taken after passes may carry the memory of
// the call that a copied call was copied from. Facts of the graph say how many tensors were mended.
// Call it on a graph whose nodes, values and storages are complete, before Graph::finish.
void correct_storages(Graph& graph);

// The same after an edit, for the calls that it replaced and for what is a view of their results;
// everything else stays. `was` holds nodes as they were before the edit: a replaced view that is
// not among them may lose its offset. `before_change` is told each node right before its value is
// replaced.
void correct_replaced(Graph& graph, const std::unordered_set<NodeId>& replaced,
                      const std::unordered_map<NodeId, Node>& was,
                      const std::function<void(NodeId)>& before_change);

}  // namespace jointer
