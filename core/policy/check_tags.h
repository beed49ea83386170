#pragma once

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"

namespace jointer {

// Checks an edit that tags a joint graph or a flat training step, without changing the graph. Error
// (usage): the edit changes nothing, or it sets tags that cannot be applied to the flat training
// step (apply_step_tags.h). Cost: linear in the nodes of a joint graph; for a flat training step,
// that of applying its tags.
Result<void> check_tags(const Graph& graph, const Edit& edit);

}  // namespace jointer
