#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/joint_parts.h"
#include "core/partition/save_plan.h"

namespace jointer {

// The plan that saves those of these values that the backward reads, and the symbols in the sizes
// of the backward's inputs. The top of saved_values.cpp states the rules. `values`, `symbols`:
// without duplicates. Error (usage): same as extract_half.
Result<SavePlan> settle_saved_values(const Graph& joint, const JointParts& parts,
                                     const std::vector<NodeId>& values,
                                     const std::vector<NodeId>& symbols);

// The placeholders of the backward under this plan, in order.
std::vector<NodeId> backward_inputs(const JointParts& parts, const SavePlan& plan);

}  // namespace jointer
