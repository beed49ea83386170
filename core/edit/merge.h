#pragma once

// Merges several collectives of one process group into one, and splits them again. The edits
// consist of primitive changes, so torch can replay them. The results stay bitwise equal, except
// for sums over more than two ranks, for which the edit has a note. merge.cpp describes the method.

#include <span>
#include <vector>

#include "core/edit/edit.h"

namespace jointer {

// Merges two or more all_gather_into_tensor, reduce_scatter_tensor or all_reduce calls with one
// wait each. Error (usage), in one sentence: the collectives do not match, their sizes are unknown,
// or the result of one is used before the input of another exists.
Result<Edit> merge_collectives(const Graph& graph, std::span<const NodeId> starts);

// Options of merge_buckets.
struct MergeOptions {
  // All-gathers of several dtypes may share a bucket: they are sent as bytes.
  bool several_dtypes = false;
};
struct MergedBucket {
  NodeId start, wait;                         // of the bucket
  std::vector<NodeId> ahead, behind;          // new nodes in order: up to the start; after it
  std::vector<NodeId> old_starts, old_waits;  // removed; turned into views
};
// Merges several buckets at once, for passes that place them. A bucket that merge_collectives would
// refuse is refused without affecting the others, and its members stay unchanged. All members of a
// bucket belong to one half, and a collective belongs to one bucket. New nodes are appended to the
// order, so the graph is not valid until the caller sets a new order and calls finish().
std::vector<Result<MergedBucket>> merge_buckets(Graph& graph,
                                                std::span<const std::vector<NodeId>> buckets,
                                                const MergeOptions& options);

// Splits a bucket that merge_collectives made, or a coalesced collective, into one collective per
// member. Error (usage): the collective is neither.
Result<Edit> split_collective(const Graph& graph, NodeId start);

}  // namespace jointer
