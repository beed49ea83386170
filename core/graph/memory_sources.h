#pragma once

// Finds the memory of nodes that a pass inserted without meta["val"].

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// True if the graph says nothing about the value of an input or call.
bool lacks_value(const Graph& graph, NodeId id);

// Appends the nodes with a value whose memory may be that of `id`, which lacks one: a view, a wait
// or a getitem returns its arguments' memory, as far as those have values. Returns false if it may
// also be memory that no value describes: that of an input or of a call's own result.
bool append_memory_sources(const Graph& graph, NodeId id, std::vector<NodeId>& sources);

}  // namespace jointer
