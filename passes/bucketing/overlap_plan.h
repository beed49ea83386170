#pragma once

// A schedule with its buckets, and the graph that results from it.

#include "core/edit/merge.h"
#include "core/graph/graph.h"
#include "passes/bucketing/overlap_bucketer.h"

namespace jointer {

struct OverlapPlan {
  OverlapSchedule schedule;
  Bucketing bucketing;
  // True: a bucket's wait is placed where its members' first wait was. False: it follows the
  // bucket's start.
  bool waits_stay = false;
};
// A plan that keeps the original order, with no buckets and only the graph's own dependencies.
OverlapPlan plan_as_given(const OverlapGraph& graph);

// The graph of `from`, in the plan's order and with its buckets. A bucket whose members are written
// to in place is not merged, and `plan` records this. Error (usage): the plan's dependencies cannot
// all be kept.
struct PlannedGraph {
  Graph graph;
  std::vector<MergedBucket> merged;  // in the order of the plan's buckets
  // For with_torch_plan (torch_buckets.h): the order before correction. Readers may precede their
  // inputs, as in torch's node list.
  std::vector<NodeId> list = {};
};
Result<PlannedGraph> with_plan(const OverlapGraph& from, const Dependencies& dependencies,
                               OverlapPlan& plan, BucketDtypes dtypes);

// The order of the whole graph after its half is reordered to `places` (each once), corrected where
// that would break dependencies. Error (usage): a node would move across a wall.
Result<std::vector<NodeId>> order_with(const OverlapGraph& from, const Dependencies& dependencies,
                                       const std::vector<Place>& places);

}  // namespace jointer
