#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Returns the assumptions in `given` that apply to `made`, which was made from a graph with these
// assumptions, as a pair is from a joint graph. Leaves out symbols that `made` lacks, and the rank
// distances and sizes of groups that no call uses, since a file of `made` would lack them. If calls
// use only a twin of a group, the twin gets the group's distance and size. `made` must be complete.
Assumptions inherited_assumptions(const Assumptions& given, const Graph& made);

// Applies the assumptions of `from` to `made`, as far as they apply to it. Errors: see
// Graph::assume.
Result<void> inherit_assumptions(Graph& made, const Graph& from);

}  // namespace jointer
