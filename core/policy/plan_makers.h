#pragma once

// Describes a save plan in terms of the calls that allocate memory, because lists of operators
// refer to these. A view, a part of a tuple or a wait counts as the call that allocated its memory.

#include <vector>

#include "core/graph/graph.h"
#include "core/partition/save_plan.h"

namespace jointer {

struct PlanMakers {
  // In program order. A call with several results is in both lists if only some of them are saved.
  std::vector<NodeId> saved;  // calls whose memory the plan saves, without inputs of the graph
  std::vector<NodeId> rerun;  // calls that allocate memory and are recomputed in the backward
  // Indexed by node id: true for every recomputed call, including views.
  std::vector<bool> runs_again;
};
// Cost: linear.
PlanMakers plan_makers(const Graph& joint, const SavePlan& plan);

// Indexed by node id: the node that allocated the node's memory; the node itself if it returns no
// tensor.
std::vector<NodeId> memory_makers(const Graph& graph);

// The calls whose memory the graph's tags save, indexed by node id, for the nodes of
// `memory_makers`. Follows torch's partitioner, including its rule for regions: a recomputed call
// is saved if a recomputed call of a region with a greater number reads it.
struct TaggedMakers {
  std::vector<bool> saved;     // it or a view of it is saved
  std::vector<bool> untagged;  // neither it nor a view of it is tagged
};
TaggedMakers tagged_makers(const Graph& graph);

}  // namespace jointer
