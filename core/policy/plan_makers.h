#pragma once

// Describes a save plan by the calls that allocate memory, because lists of operators refer to
// these. A view, an element of a tuple or a wait counts as the call that allocated its memory.

#include <vector>

#include "core/graph/graph.h"
#include "core/partition/save_plan.h"

namespace jointer {

struct PlanMakers {
  // In program order. If only some results of a call are saved, the call is in both lists.
  std::vector<NodeId> saved;  // calls that allocate memory that the plan saves
  std::vector<NodeId> rerun;  // calls that allocate memory and are recomputed in the backward
  // Indexed by node id: true for every recomputed call, including views.
  std::vector<bool> runs_again;
};
// Cost: linear.
PlanMakers plan_makers(const Graph& joint, const SavePlan& plan);

// Indexed by node id: the node that allocated the memory of the node's first tensor, or the node
// itself if it returns no tensor.
std::vector<NodeId> memory_makers(const Graph& graph);

// The effect of the graph's tags on the nodes that allocate memory (memory_makers), indexed by node
// id. Follows torch's partitioner, including its rule for regions: a recomputed call is saved if a
// recomputed call in a region with a greater number reads it.
struct TaggedMakers {
  std::vector<bool> saved;     // the node or a view of it is saved
  std::vector<bool> untagged;  // neither the node nor a view of it is tagged
};
TaggedMakers tagged_makers(const Graph& graph);

}  // namespace jointer
