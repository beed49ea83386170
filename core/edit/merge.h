#pragma once

// Several collectives of one process group as one, and one as several. The edits hold primitive
// changes alone, so torch can replay them; what the program computes stays the same bit by bit (but
// for sums over more than two ranks, which a note says). How is at the top of merge.cpp.

#include <span>
#include <vector>

#include "core/edit/edit.h"

namespace jointer {

// A bucket of all_gather_into_tensor, reduce_scatter_tensor or all_reduce, at least two of them,
// each with one wait. Error (usage), in one sentence: they are not alike, have sizes that are not
// known, or one's result is used before another's input exists.
Result<Edit> merge_collectives(const Graph& graph, std::span<const NodeId> starts);

// Several buckets at once, for a pass that decides where they stand.
struct MergeOptions {
  // All-gathers of several dtypes may share a bucket: they travel as bytes.
  bool several_dtypes = false;
};
struct MergedBucket {
  NodeId start, wait;                 // of the bucket
  std::vector<NodeId> ahead, behind;  // all that is new, in order: up to its start; the rest
  std::vector<NodeId> old_starts, old_waits;  // these are gone; those are views of the result now
};
// Each of `buckets` is refused for itself, as merge_collectives does, without a change. Members
// are of one half, and of one bucket. What is new stands at the end of the order then, so the graph
// is not sound until the caller has set another order and called finish().
std::vector<Result<MergedBucket>> merge_buckets(Graph& graph,
                                                std::span<const std::vector<NodeId>> buckets,
                                                const MergeOptions& options);

// The members of a bucket that merge_collectives made, or of a coalesced collective, each a
// collective of its own again. Error (usage): it is neither.
Result<Edit> split_collective(const Graph& graph, NodeId start);

}  // namespace jointer
