#pragma once

// Inserts buckets into a list of nodes, at the same positions as torch. fx_buckets.cpp describes
// the steps.

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
// Inserts the calls before the node `before`; if `wait_before` is given, inserts those from the
// first wait on before that node. Readers of the members' waits then read the bucket's results, and
// the members are removed. Finally, sorts the nodes between the bucket and its inputs. Error
// (usage): a member depends on another.
Result<PlacedBucket> place_bucket(Graph& graph, FxProgram& program, BucketNames& names,
                                  std::span<const BucketMember> members, BucketForm form,
                                  NodeId before, NodeId wait_before = {});

// The first node after `node` that does not start a member.
NodeId behind_members(const FxProgram& program, std::span<const BucketMember> members, NodeId node);

// True if a node other than the collective's packing call writes to what the collective reads or
// returns. A bucket would lose that write.
bool is_written(const Graph& graph, const Dependencies& dependencies,
                const WaitedCollective& collective);

}  // namespace jointer
