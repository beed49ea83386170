#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/joint_parts.h"

namespace jointer {

// The values that torch's default_partition chooses to save. The top of default_partition.cpp
// states the rules.
struct DefaultChoice {
  std::vector<NodeId> values, symbols;  // each once, in the order in which torch finds them
};

// The graph's tags must be settled. Error (usage): a node is tagged for recomputation, and the
// rules save a call of the forward because it has side effects; the message names the call.
Result<DefaultChoice> choose_default(const Graph& joint);

}  // namespace jointer
