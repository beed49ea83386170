#pragma once

// Finds the memory of nodes that have no meta["val"] because a pass inserted them.

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// True if the node is not an output and the graph has no value for it.
bool lacks_value(const Graph& graph, NodeId id);

// For `id`, which lacks a value, appends the nodes that have a value and may share memory with it:
// a view, a wait or a getitem returns the memory of its arguments. Returns false if `id` may also
// share memory that no value describes (that of an input, or of a call's new result), or if there
// are too many nodes to search.
bool append_memory_sources(const Graph& graph, NodeId id, std::vector<NodeId>& sources);

}  // namespace jointer
