#pragma once

#include "core/graph/graph.h"

namespace jointer {

// Derives the parameters of a flat training step whose capture does not name them: the inputs that
// have gradients, each named after the first module that reads the input. Sets Role::parameter and
// role_target of placeholders, and the target of gradients in Part::outputs; adds a fact. Does
// nothing for other kinds of graphs, if a descriptor names a parameter or a buffer, or if a
// gradient has no matching input. Requires phases and Part::outputs.
void derive_step_parameters(Graph& graph, PartId part);

}  // namespace jointer
