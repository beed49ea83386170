#pragma once

// What comes before and after the minimum cut, apart from it: partition() does it once, a sweep
// over budgets once before and many times after.

#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/joint_parts.h"
#include "core/partition/recompute_tags.h"
#include "core/partition/save_plan.h"

namespace jointer {

void drop_tags(Graph& joint);

// Error (usage): a call writes in place, and which: what is made again could differ.
Result<void> check_functional(const Graph& joint);

// Dead code goes, common subexpressions are merged, tags are settled. Why each tag, by node.
std::vector<TagSource> prepare_for_cut(Graph& joint);

// The plan of what a cut saves, values and symbols alike. Error (usage): as settle_saved_values.
Result<SavePlan> plan_of(const Graph& joint, const JointParts& parts,
                         const std::vector<NodeId>& saved);

}  // namespace jointer
