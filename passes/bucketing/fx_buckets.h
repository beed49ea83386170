#pragma once

// Buckets put into a list of nodes as torch puts them there. How is at the top of fx_buckets.cpp.

#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/graph/dependencies.h"
#include "passes/bucketing/bucket_calls.h"
#include "passes/bucketing/fx_program.h"

namespace jointer {

struct PlacedBucket {
  BucketCalls calls;
  std::vector<NodeId> readers;  // of what the members' waits returned; none of them is a member's
};
// `before`: the node that the calls stand before; `wait_before`: those from the first wait on;
// none: with the others. Readers of the members' waits read the results, and the members go. Then
// what lies between the bucket and its inputs is sorted. Error (usage): a member needs another.
Result<PlacedBucket> place_bucket(Graph& graph, FxProgram& program, BucketNames& names,
                                  std::span<const BucketMember> members, BucketForm form,
                                  NodeId before, NodeId wait_before = {});

// The first node behind `node` that starts none of the members.
NodeId behind_members(const FxProgram& program, std::span<const BucketMember> members, NodeId node);

// Whether something writes to what a collective reads or returns, beyond what packed it: in a
// bucket that would be lost.
bool is_written(const Graph& graph, const Dependencies& dependencies,
                const WaitedCollective& collective);

}  // namespace jointer
