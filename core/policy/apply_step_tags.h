#pragma once

// Applies the tags of a flat training step. The tags of a joint graph are applied by the
// partitioner.

#include <vector>

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"
#include "core/partition/save_plan.h"

namespace jointer {

// Applies all tags of `step`: runs upstream's apply_cpu_offload if a value is tagged for offload,
// then selective_activation_remat. The order lets recomputed calls read values that were copied
// back from the host. Returns the edits. Error (usage): same as these passes; `step` may then be
// partly changed.
Result<std::vector<Edit>> apply_step_tags(Graph& step);

// Returns the same changes as one edit, without changing the graph; the edit has no changes if no
// tags are left to apply. Values that are already recomputed or offloaded remain so; they are
// processed again only if a new tag requires it. Error (usage): same as apply_step_tags.
Result<Edit> step_tags_edit(const Graph& tagged);

// Returns the flat training step with this plan applied. Error (usage): same as tag_as_planned and
// apply_step_tags.
Result<Graph> step_of_plan(Graph step, const SavePlan& plan);

// Returns the values that `step` saves for backward, as a plan for `before`, the graph before its
// tags were applied. Error (usage): same as partitioned_values.
Result<SavePlan> plan_of_step(const Graph& before, const Graph& step);

}  // namespace jointer
