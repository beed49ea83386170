#pragma once

// Which tensors a ladder has as rungs, and what becomes of each. The rules are at the top of
// ladder_rungs.cpp.

#include <vector>

#include "core/partition/save_plan.h"
#include "core/schedule/memory_timeline.h"
#include "views/graph/ladder.h"

namespace jointer::views {

struct LadderRungs {
  std::vector<Rung> rungs;
  std::vector<NodeId> readers;  // of all rungs, one after another
};

// As the graph stands. `ladder`: its rows are there.
LadderRungs find_rungs(const Graph& graph, const MemoryTimeline& memory, const Ladder& ladder);

// As a plan has it. `joint`: Partition::joint; `ladder`: of the graph that it was made from, or of
// one with the same nodes. Cost: linear in nodes and edges.
LadderRungs find_rungs_of_plan(const Graph& joint, const SavePlan& plan,
                               const MemoryOptions& memory, const Ladder& ladder);

}  // namespace jointer::views
