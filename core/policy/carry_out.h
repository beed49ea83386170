#pragma once

// The tags of a flat training step, carried out. A joint graph's are carried out by a partitioner.

#include <vector>

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"
#include "core/partition/save_plan.h"

namespace jointer {

// Upstream's apply_cpu_offload, where something is tagged so, and then selective_activation_remat,
// in its order: what is made again may be made from what comes back from the host. The graph is
// changed. Error (usage): as these.
Result<std::vector<Edit>> carry_out_tags(Graph& step);

// The same as one edit, which leaves the graph as it is: empty of changes where no tag is left to
// carry out. What was carried out already stays, and is done a second time only where a new tag
// needs it again. Error (usage): as these.
Result<Edit> carry_out_edit(const Graph& tagged);

// What the step keeps for its backward, as a plan of the graph `before` its tags were carried out.
// Error (usage): as kept_values.
Result<SavePlan> plan_of_step(const Graph& before, const Graph& step);

}  // namespace jointer
