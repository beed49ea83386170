#pragma once

// Nodes of a graph from records. Tensors, storages and texts are added to the graph's tables.
// Errors (usage) say what is wrong, without the name of the node.

#include "core/base/result.h"
#include "core/edit/change.h"
#include "core/graph/graph.h"

namespace jointer {

// The node of a record, which is not added to the graph. It may name itself as the owner of a
// storage.
Result<Node> node_of(Graph& graph, PartId part, const NodeRecord& record);

// The node with the operator, the arguments and the value that `replace` gives; not its `inputs`.
Result<Node> replaced_call(Graph& graph, const Node& node, const ReplaceCall& replace);

}  // namespace jointer
