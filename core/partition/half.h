#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/joint_parts.h"

namespace jointer {

enum class HalfKind : std::uint8_t { forward, backward };

// What one half of a joint graph runs. How it is found is at the top of half.cpp.
struct Half {
  std::vector<NodeId> calls;    // and constants, in the joint graph's order
  std::vector<NodeId> reached;  // what it could run, in that order: calls are among it
  std::vector<NodeId> outputs;  // what stands for each output; none for a null
};

// `inputs`: what the half is given; other placeholders are out of its reach. Error (usage): an
// output is out of reach; the sentence says which, and what is missing.
Result<Half> extract_half(const Graph& joint, const NodePlaces& places, HalfKind kind,
                          std::span<const NodeId> inputs, std::span<const NodeId> outputs);

// What an output that is out of reach stands for all the same; none: for nothing. `is_within`: by
// node, what is within reach.
NodeId stand_in(const Graph& joint, const NodePlaces& places, NodeId output,
                const std::vector<bool>& is_within);

// The first ancestor of a node out of reach, itself included, whose inputs are all within reach.
// `is_within`: by node.
NodeId missing_ancestor(const Graph& graph, NodeId id, const std::vector<bool>& is_within);

}  // namespace jointer
