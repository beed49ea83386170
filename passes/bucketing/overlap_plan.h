#pragma once

// A schedule and its buckets, and the graph that they make.

#include "core/edit/merge.h"
#include "core/graph/graph.h"
#include "passes/bucketing/overlap_bucketer.h"

namespace jointer {

struct OverlapPlan {
  OverlapSchedule schedule;
  Bucketing bucketing;
  // A bucket's wait stands where the first of its members' waits stood, else behind its start.
  bool waits_stay = false;
};
// The order as it is, with no bucket and nothing to keep but what the graph needs.
OverlapPlan plan_as_given(const OverlapGraph& graph);

// The graph that `from` was made of, in the plan's order and with its buckets. A bucket whose
// members are written to in place stays apart, which `plan` is told. Error (usage): the plan's
// dependencies cannot all be kept.
struct PlannedGraph {
  Graph graph;
  std::vector<MergedBucket> merged;  // those of the plan, in its order
  // Of with_torch_plan (torch_buckets.h): the order before it is put right, in which readers may
  // come before what they read, as in torch's list of nodes.
  std::vector<NodeId> list = {};
};
Result<PlannedGraph> with_plan(const OverlapGraph& from, const Dependencies& dependencies,
                               OverlapPlan& plan, BucketDtypes dtypes);

// The whole order with that of the half changed: `places`, each once, put right where they break
// dependencies. Error (usage): a wall would be crossed.
Result<std::vector<NodeId>> order_with(const OverlapGraph& from, const Dependencies& dependencies,
                                       const std::vector<Place>& places);

}  // namespace jointer
