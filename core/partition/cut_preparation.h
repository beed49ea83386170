#pragma once

// The steps of min_cut before and after the minimum cut. partition() runs each step once; a sweep
// over budgets prepares once and plans many times.

#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/joint_parts.h"
#include "core/partition/recompute_tags.h"
#include "core/partition/save_plan.h"

namespace jointer {

void drop_tags(Graph& joint);

// Error (usage): a call writes in place, other than by copying into or setting an input
// (find_write_in_between), so recomputation could give different results; the message names the
// call.
Result<void> check_functional(const Graph& joint);

// Eliminates dead code, merges common subexpressions and settles the tags. The graph must have one
// part. Returns the source of each node's tag, indexed by node id.
std::vector<TagSource> prepare_for_cut(Graph& joint);

// The plan that saves those of `saved`, values and symbols, that the backward reads, and the sizes
// that it needs for them (settle_saved_values). Error (usage): same as settle_saved_values.
Result<SavePlan> plan_of(const Graph& joint, const JointParts& parts,
                         const std::vector<NodeId>& saved);

}  // namespace jointer
