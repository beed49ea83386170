#pragma once

// Merges several collectives of one process group into one, and splits them again. The edits
// consist of primitive changes, so training code can replay them. The results stay bitwise equal,
// except that merging and splitting may change the last bit of sums over more than two ranks; an
// edit that merges then has a note. merge.cpp describes the method.

#include <span>
#include <vector>

#include "core/edit/edit.h"

namespace jointer {

// Merges two or more all_gather_into_tensor, reduce_scatter_tensor or all_reduce calls, each read
// by one wait and nothing else. Error (usage), in one sentence: a call is not of this form, the
// calls do not match, their sizes are symbolic, the result of one is used before the input of
// another exists, or a node writes to an input before the bucket could start.
Result<Edit> merge_collectives(const Graph& graph, std::span<const NodeId> starts);

struct MergeOptions {
  // If true, all-gathers of several dtypes may share a bucket, which is then sent as bytes.
  bool several_dtypes = false;
};
struct MergedBucket {
  NodeId start, wait;                 // of the bucket
  std::vector<NodeId> ahead, behind;  // new nodes in order: up to and including `start`; after it
  std::vector<NodeId> old_starts, old_waits;  // now removed; now views
};
// Merges several buckets at once, for passes that place them. A collective may belong to only one
// bucket. A bucket whose members do not match is refused without affecting the others; its members
// stay unchanged. New nodes are appended to the order, so the graph is not valid until the caller
// sets a new order and calls finish(). The caller ensures that no node writes to an input between
// its member and the bucket.
std::vector<Result<MergedBucket>> merge_buckets(Graph& graph,
                                                std::span<const std::vector<NodeId>> buckets,
                                                const MergeOptions& options);

// Splits a bucket of the form that merge_collectives makes, or a coalesced collective, into one
// collective per member. Error (usage): the collective is neither, its sizes are symbolic, or its
// results are used in a way that does not permit this.
Result<Edit> split_collective(const Graph& graph, NodeId start);

}  // namespace jointer
