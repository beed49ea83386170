#pragma once

// The recompute tags that a partitioner goes by: those of the graph, and what it adds to them. The
// rules are at the top of recompute_tags.cpp.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/partition.h"

namespace jointer {

// Both partitioners take the two alike, as torch does.
inline bool must_recompute(const Node& node) {
  return node.policy == MemoryPolicy::must_recompute ||
         node.policy == MemoryPolicy::prefer_recompute;
}

// It stays, on the device or on the host. (Torch's partitioners do not read MUST_CPU_OFFLOAD.)
inline bool is_kept(const Node& node) {
  return node.policy == MemoryPolicy::must_save || node.policy == MemoryPolicy::must_cpu_offload;
}

// Why a node has the tag that it has.
enum class TagSource : std::uint8_t {
  graph,         // it came with it, or has none
  boundary,      // between regions of which each is made again by itself
  region_input,  // default: read by a region that is made again, from outside of it
  collective,    // ranks must agree on what they call
  effect,        // it acts on something outside the graph
  mutation,      // forward and backward write to the same input
  written,       // made again, it would read or write something else
};

// Sets Node::policy of the graph to what the partitioner goes by; why, by node.
std::vector<TagSource> settle_tags(Graph& graph, Partitioner partitioner);

}  // namespace jointer
