#pragma once

// Lists the values that a pair saves for backward, derived from the pair itself, whether torch or
// Jointer partitioned it.

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/save_plan.h"

namespace jointer {

struct PassedValue {
  NodeId node;             // of the forward
  std::int64_t bytes = 0;  // of the tensor alone, not its storage; 0 for a symbol
  bool is_input = false;   // an input of the graph, such as a parameter
  bool is_symbol = false;
};

// In the order of the forward's outputs, without its results. Empty if the graph is not a pair.
std::vector<PassedValue> passed_values(const Graph& pair);

// The same as a plan of the joint graph from which the pair was partitioned. Error (usage): `pair`
// is not a pair, or `joint` lacks a node of that name.
Result<SavePlan> plan_of_pair(const Graph& joint, const Graph& pair);

}  // namespace jointer
