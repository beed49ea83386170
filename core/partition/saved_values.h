#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/joint_parts.h"
#include "core/partition/save_plan.h"

namespace jointer {

// The plan that comes of saving these values: without those that the backward does not read, and
// with the symbols that its inputs' sizes are made of. The rules are at the top of
// saved_values.cpp. `values` and `symbols`: each once. Error (usage): as extract_half.
Result<SavePlan> settle_saved_values(const Graph& joint, const JointParts& parts,
                                     const std::vector<NodeId>& values,
                                     const std::vector<NodeId>& symbols);

// Placeholders of the backward of that plan, in order.
std::vector<NodeId> backward_inputs(const JointParts& parts, const SavePlan& plan);

}  // namespace jointer
