#pragma once

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"

namespace jointer {

// Checks an edit that tags a joint graph or a flat training step, without changing the graph. Error
// (usage): the edit changes nothing, or it sets tags that cannot be applied to the flat training
// step (apply_step_tags.h). Cost: for a flat training step, that of applying the edit and the tags
// to a copy; constant for a joint graph.
Result<void> check_tags(const Graph& graph, const Edit& edit);

}  // namespace jointer
