#pragma once

// Settles the tags that a partitioner follows: those in the graph, and those that the partitioner
// adds. The top of recompute_tags.cpp states the rules.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/partition.h"

namespace jointer {

// As in torch, both partitioners treat MUST_RECOMPUTE and PREFER_RECOMPUTE alike.
inline bool must_recompute(const Node& node) {
  return node.policy == MemoryPolicy::must_recompute ||
         node.policy == MemoryPolicy::prefer_recompute;
}

// True if the node is tagged to be saved, on the device or on the host. (torch's partitioners
// ignore MUST_CPU_OFFLOAD.)
inline bool is_tagged_to_save(const Node& node) {
  return node.policy == MemoryPolicy::must_save || node.policy == MemoryPolicy::must_cpu_offload;
}

// The reason why a node has its tag.
enum class TagSource : std::uint8_t {
  graph,         // the tag is the graph's, or there is none
  boundary,      // a later region, recomputed separately, reads the node
  region_input,  // default_partition: the node is outside regions, and a recomputed one reads it
  collective,    // all ranks must call the same collectives
  effect,        // the node is a result of a call with effects
  mutation,      // the forward and the backward write to the same input
  written,       // if recomputed, the node would read or write different values
};

// Sets the policy of each node to the tag that the partitioner follows. Returns the sources of the
// tags, indexed by node id.
std::vector<TagSource> settle_tags(Graph& graph, Partitioner partitioner);

}  // namespace jointer
