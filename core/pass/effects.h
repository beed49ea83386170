#pragma once

// What became of the nodes that a pass decided about: what it says of a node, beside what happened.

#include <vector>

#include "core/edit/decision.h"
#include "core/edit/difference.h"
#include "core/schedule/simulation.h"

namespace jointer {

struct JudgedGraph {
  const Graph& graph;
  const Simulation& simulation;
};

// Fills in `effect` of each decision that names a node: "412 places earlier; exposed 3.40 ms ->
// 1.21 ms", "removed", "policy MUST_SAVE"; empty where nothing happened to it. `difference`: of
// both graphs.
void note_effects(const JudgedGraph& before, const JudgedGraph& after,
                  const GraphDifference& difference, std::vector<Decision>& decisions);

}  // namespace jointer
