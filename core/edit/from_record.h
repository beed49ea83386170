#pragma once

// Builds nodes of a graph from records. Adds their tensors, storages and texts to the graph's
// tables. Errors (usage): the record does not fit the graph.

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"

namespace jointer {

// Returns the node that the record describes, without adding it to the graph. The record may name
// the node itself as the owner of a storage.
Result<Node> node_of(Graph& graph, PartId part, const NodeRecord& record);

// Returns the node with the operator, the arguments and the value that `replace` gives; what it
// does not give stays the same. Ignores `replace.inputs` and `replace.custom`.
Result<Node> replaced_call(Graph& graph, const Node& node, const ReplaceCall& replace);

}  // namespace jointer
