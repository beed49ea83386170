#pragma once

// Determines the rungs of a ladder and their states. ladder_rungs.cpp lists the rules.

#include <vector>

#include "core/partition/save_plan.h"
#include "core/schedule/memory_timeline.h"
#include "views/graph/ladder.h"

namespace jointer::views {

struct LadderRungs {
  std::vector<Rung> rungs;
  std::vector<NodeId> readers;  // the readers of all rungs, concatenated
};

// The rungs of a graph without a plan. The rows of `ladder` must exist.
LadderRungs find_rungs(const Graph& graph, const MemoryTimeline& memory, const Ladder& ladder);

// The rungs of a graph with a plan. `joint`: see Partition::joint. `ladder` must be the ladder of
// the graph that the plan was made for, or of that graph after edits that added no nodes. Cost:
// linear in nodes and edges.
LadderRungs find_rungs_of_plan(const Graph& joint, const SavePlan& plan,
                               const MemoryOptions& memory, const Ladder& ladder);

}  // namespace jointer::views
