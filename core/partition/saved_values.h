#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/joint_parts.h"
#include "core/partition/save_plan.h"

namespace jointer {

// Returns a plan. It saves those of `values` and `symbols` that the backward reads, and the symbols
// in the sizes of the backward's inputs. It offloads the saved values that are tagged for it and
// can be offloaded. The top of saved_values.cpp states the rules. `values` and `symbols` must not
// contain duplicates. Error (usage): same as extract_half.
Result<SavePlan> settle_saved_values(const Graph& joint, const JointParts& parts,
                                     const std::vector<NodeId>& values,
                                     const std::vector<NodeId>& symbols);

// The nodes of the joint graph whose values the backward receives under this plan, in the order of
// its placeholders. Those of random states (random_states.h) are not included.
std::vector<NodeId> backward_inputs(const JointParts& parts, const SavePlan& plan);

}  // namespace jointer
