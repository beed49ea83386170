#pragma once

// What a pair's forward hands to its backward, read off the pair itself: of a capture that torch
// partitioned as of one that was emitted here.

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/save_plan.h"

namespace jointer {

struct HandedOver {
  NodeId node;             // of the forward
  std::int64_t bytes = 0;  // as a tensor of its own; of a symbol 0
  bool is_input = false;   // of the graph: parameters and the like
  bool is_symbol = false;
};

// In the order of the forward's outputs; its results are left out. Empty of a graph that is no
// pair.
std::vector<HandedOver> handed_over(const Graph& pair);

// The same as a plan of the joint graph that the pair was made from. Error (usage): the graph is no
// pair, or the joint graph has no node of that name.
Result<SavePlan> plan_of_pair(const Graph& joint, const Graph& pair);

}  // namespace jointer
