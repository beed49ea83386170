#pragma once

// Inserts buckets into a list of nodes, at the positions where torch inserts them. fx_buckets.cpp
// describes the steps.

#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/graph/dependencies.h"
#include "passes/bucketing/bucket_calls.h"
#include "passes/bucketing/fx_program.h"

namespace jointer {

struct PlacedBucket {
  BucketCalls calls;
  std::vector<NodeId> readers;  // nodes that read the members' results, except members
};
// Inserts the bucket's calls before the node `before`; if `wait_before` is given, the first wait
// and the calls after it are inserted before that node instead. Makes the readers of the members'
// waits read the bucket's results, and removes the members and the casts that the bucket replaces.
// Finally, sorts the nodes between the bucket and its inputs. Error (usage): a member depends on
// another member.
Result<PlacedBucket> place_bucket(Graph& graph, FxProgram& program, BucketNames& names,
                                  std::span<const BucketMember> members, BucketForm form,
                                  NodeId before, NodeId wait_before = {});

// The first node after `node` that does not start a member.
NodeId behind_members(const FxProgram& program, std::span<const BucketMember> members, NodeId node);

// True if a node other than the collective's inputs and its wait writes to the collective's input
// or result. A bucket would lose that write.
bool is_written(const Graph& graph, const Dependencies& dependencies,
                const WaitedCollective& collective);

}  // namespace jointer
