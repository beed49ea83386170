#pragma once

// Applies the tags of a flat training step. In a joint graph, the partitioner applies them.

#include <vector>

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"
#include "core/partition/save_plan.h"

namespace jointer {

// Applies all tags to `step`: upstream's apply_cpu_offload if a value is tagged for offload, then
// selective_activation_remat. In this order, recomputed calls can read values that were copied back
// from the host. Returns the edits. Error (usage): same as these passes.
Result<std::vector<Edit>> apply_step_tags(Graph& step);

// Returns the same changes as one edit, without changing the graph; the edit has no changes if no
// tags are left to apply. Values that are already recomputed or offloaded remain so, and are
// processed a second time only if a new tag requires it. Error (usage): same as these passes.
Result<Edit> step_tags_edit(const Graph& tagged);

// The flat training step with the tags of this plan applied. Error (usage): same as these passes.
Result<Graph> step_of_plan(Graph step, const SavePlan& plan);

// The values that the step saves for backward, as a plan for `before`, the graph whose tags are not
// yet applied. Error (usage): same as kept_values.
Result<SavePlan> plan_of_step(const Graph& before, const Graph& step);

}  // namespace jointer
