#pragma once

#include "core/graph/graph.h"

namespace jointer {

// Parameters of a flat training step whose capture does not name them: the inputs that its
// gradients belong to, each called by the module that reads it first. Sets Role::parameter and
// role_target of placeholders, and the target of gradients among Part::outputs; says so in a fact.
// Does nothing where a descriptor names a parameter or a buffer, or where gradients and inputs do
// not match one to one. Phases and outputs must have been derived.
void derive_step_parameters(Graph& graph, PartId part);

}  // namespace jointer
