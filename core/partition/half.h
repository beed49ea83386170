#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/joint_parts.h"

namespace jointer {

enum class HalfKind : std::uint8_t { forward, backward };

// The calls of one half of a joint graph. The top of half.cpp describes how they are found.
struct Half {
  // Calls and constants, in the joint graph's order until backward_order.h changes it.
  std::vector<NodeId> calls;
  // All calls and constants that the half can run, in the joint graph's order; includes `calls`.
  std::vector<NodeId> reached;
  std::vector<NodeId> outputs;  // the node that provides each output; none for a null
};

// `inputs`: the nodes that the half receives as placeholders; it cannot reach other placeholders.
// Error (usage): an output is out of reach, and no other node provides it. The message names the
// output and the node that is missing or, if a write keeps that node out of the backward, the node
// and the write.
Result<Half> extract_half(const Graph& joint, const NodePlaces& places, HalfKind kind,
                          std::span<const NodeId> inputs, std::span<const NodeId> outputs);

// A node within reach that can provide an output that is out of reach; none if there is no such
// node. `is_within`: indexed by node id, true if the node is within reach.
NodeId find_substitute(const Graph& joint, const NodePlaces& places, NodeId output,
                       const std::vector<bool>& is_within);

// Among `id`, which is out of reach, and its ancestors, a node that is out of reach although all
// its inputs are within reach. `is_within`: indexed by node id.
NodeId missing_ancestor(const Graph& graph, NodeId id, const std::vector<bool>& is_within);

}  // namespace jointer
