#pragma once

// Settles the recompute tags that a partitioner follows: those in the graph, and those that the
// partitioner adds. The top of recompute_tags.cpp states the rules.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/partition.h"

namespace jointer {

// Both partitioners treat the two policies alike, as in torch.
inline bool must_recompute(const Node& node) {
  return node.policy == MemoryPolicy::must_recompute ||
         node.policy == MemoryPolicy::prefer_recompute;
}

// True if the value is saved, on the device or on the host. (torch's partitioners ignore
// MUST_CPU_OFFLOAD.)
inline bool is_kept(const Node& node) {
  return node.policy == MemoryPolicy::must_save || node.policy == MemoryPolicy::must_cpu_offload;
}

// The source of a node's tag.
enum class TagSource : std::uint8_t {
  graph,         // it came with the graph, or there is no tag
  boundary,      // it is between regions that are recomputed separately
  region_input,  // default: a recomputed region reads it from outside
  collective,    // ranks must agree on the collectives they call
  effect,        // it has an effect outside the graph
  mutation,      // forward and backward write to the same input
  written,       // if recomputed, it would read or write different values
};

// Sets Node::policy to the tags that the partitioner follows. Returns their sources, indexed by
// node id.
std::vector<TagSource> settle_tags(Graph& graph, Partitioner partitioner);

}  // namespace jointer
