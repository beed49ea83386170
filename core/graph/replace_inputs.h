#pragma once

#include <functional>

#include "core/graph/graph.h"

namespace jointer {

// The argument with each node in it replaced by `now(node)`. The argument itself if none changes.
Argument replace_inputs(Graph& graph, const Argument& argument,
                        const std::function<NodeId(NodeId)>& now);

}  // namespace jointer
