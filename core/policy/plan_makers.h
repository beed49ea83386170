#pragma once

// A save plan by the calls that make memory: what lists of operators are about. A view, a part of a
// tuple or a wait counts as the call whose memory it is.

#include <vector>

#include "core/graph/graph.h"
#include "core/partition/save_plan.h"

namespace jointer {

struct PlanMakers {
  // In program order. A call of several results may be in both: some are saved, others not.
  std::vector<NodeId> saved;  // calls whose memory the plan keeps; no inputs of the graph
  std::vector<NodeId> rerun;  // calls that make memory and run again in the backward
  // By id: every call that runs again, views among them.
  std::vector<bool> runs_again;
};
// Cost: linear.
PlanMakers plan_makers(const Graph& joint, const SavePlan& plan);

// By id: the node that first holds each node's memory; of a node that returns no tensor itself.
std::vector<NodeId> memory_makers(const Graph& graph);

// Whether what is tagged so keeps its memory: by id, for the nodes of `memory_makers`, as torch's
// partitioner reads the tags of the graph. Its rule about regions is in it: a recomputed call that
// a recomputed one of a greater region reads is saved.
struct TaggedMakers {
  std::vector<bool> saved;     // it, or a view of it, is to be saved
  std::vector<bool> untagged;  // neither it nor a view of it is tagged
};
TaggedMakers tagged_makers(const Graph& graph);

}  // namespace jointer
