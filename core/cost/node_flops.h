#pragma once

#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/ops/flops.h"

namespace jointer {

// Returns the FLOPs of a node for the current values of symbolic sizes; 0 if its operator has no
// formula. A higher-order operator that runs another operator (such as attention with a saved
// random state) counts as that operator in `total`.
Flops node_flops(const Graph& graph, const Node& node);
// The FLOPs of each node, indexed by node id.
std::vector<Flops> flops_of(const Graph& graph);

struct GraphFlops {
  std::int64_t forward = 0, backward = 0, total = 0, torch_registry = 0;
};
GraphFlops graph_flops(const Graph& graph);
// The same, from the FLOPs of each node: the result of flops_of.
GraphFlops graph_flops(const Graph& graph, std::span<const Flops> flops);

}  // namespace jointer
