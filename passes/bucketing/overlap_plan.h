#pragma once

// A schedule with its buckets, and the graph that results from it.

#include "core/edit/merge.h"
#include "core/graph/graph.h"
#include "passes/bucketing/overlap_bucketer.h"

namespace jointer {

struct OverlapPlan {
  OverlapSchedule schedule;
  Bucketing bucketing;
  // True: a bucket's wait replaces the first of its members' waits. False: it follows the bucket's
  // start.
  bool waits_stay = false;
};
// A plan that keeps the original order, with no buckets and only the graph's own dependencies.
OverlapPlan plan_as_given(const OverlapGraph& graph);
// All positions: first the leading nodes, then the others in the plan's order.
std::vector<Place> schedule_order(const OverlapGraph& graph, const OverlapPlan& plan);

struct PlannedGraph {
  Graph graph;
  std::vector<MergedBucket> merged;  // in the order of the plan's buckets
  // Set by with_torch_plan (torch_buckets.h): the order before it is corrected, in which readers
  // may precede their inputs, as in torch's node list.
  std::vector<NodeId> list = {};
};
// The graph of `from`, in the plan's order and with its buckets. A bucket that cannot be merged is
// removed from `plan`, which records the reason (NoBucket::written or unlike). Error (usage): the
// plan's dependencies cannot all be satisfied.
Result<PlannedGraph> with_plan(const OverlapGraph& from, const Dependencies& dependencies,
                               OverlapPlan& plan, BucketDtypes dtypes);

// The order of the whole graph, with the half `from` in the order `half`.
std::vector<NodeId> with_other_half(const OverlapGraph& from, const std::vector<NodeId>& half);
// The same, given the half's positions, each once. Moves nodes if the order would break
// dependencies. Error (usage): a node would move across a wall.
Result<std::vector<NodeId>> order_with(const OverlapGraph& from, const Dependencies& dependencies,
                                       const std::vector<Place>& places);

}  // namespace jointer
