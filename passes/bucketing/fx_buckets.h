#pragma once

// Inserts buckets into a list of nodes where torch inserts them. fx_buckets.cpp describes the
// steps.

#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/graph/dependencies.h"
#include "passes/bucketing/bucket_calls.h"
#include "passes/bucketing/fx_program.h"

namespace jointer {

struct PlacedBucket {
  BucketCalls calls;
  std::vector<NodeId> readers;  // of the members' results, other than members
};
// `before`: the node before which the calls are inserted; `wait_before`: the same for the calls
// from the first wait on, which stay with the others if it is none. Readers of the members' waits
// read the results, and the members are removed. Then the nodes between the bucket and its inputs
// are sorted. Error (usage): a member needs another.
Result<PlacedBucket> place_bucket(Graph& graph, FxProgram& program, BucketNames& names,
                                  std::span<const BucketMember> members, BucketForm form,
                                  NodeId before, NodeId wait_before = {});

// The first node after `node` that starts none of the members.
NodeId behind_members(const FxProgram& program, std::span<const BucketMember> members, NodeId node);

// True if something other than its packing call writes to what a collective reads or returns: a
// bucket would lose that write.
bool is_written(const Graph& graph, const Dependencies& dependencies,
                const WaitedCollective& collective);

}  // namespace jointer
