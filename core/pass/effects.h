#pragma once

// Describes how a pass changed the nodes that it decided about, so that users can check its
// decisions.

#include <vector>

#include "core/edit/decision.h"
#include "core/edit/difference.h"
#include "core/schedule/simulation.h"

namespace jointer {

struct JudgedGraph {
  const Graph& graph;
  const Simulation& simulation;
};

// Sets the `effect` of each decision that names a node, such as "412 positions earlier; exposed
// 3.40 ms -> 1.21 ms", "removed" or "policy MUST_SAVE". The effect is empty if neither the node nor
// the exposed time of its collective changed. `difference`: the difference between the two graphs.
void note_effects(const JudgedGraph& before, const JudgedGraph& after,
                  const GraphDifference& difference, std::vector<Decision>& decisions);

}  // namespace jointer
