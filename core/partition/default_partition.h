#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/joint_parts.h"

namespace jointer {

// What torch's default_partition saves; the rules are at the top of default_partition.cpp.
struct DefaultChoice {
  std::vector<NodeId> values, symbols;  // each once, in the order in which torch finds them
};

// The graph's tags are settled. Error (usage): tags ask for recomputation across a call that must
// not run twice.
Result<DefaultChoice> choose_default(const Graph& joint);

}  // namespace jointer
