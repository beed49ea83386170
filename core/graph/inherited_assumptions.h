#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Those of the assumptions `given` that also hold for a graph that was made from one with these
// assumptions, such as a pair, and for a file of it. The new graph may lack symbols, and its file
// contains a group with guessed ranks only if a call uses it; if calls use only the twin of such a
// group, the distance of the group becomes that of the twin. `made` must be complete.
Assumptions inherited_assumptions(const Assumptions& given, const Graph& made);

// Makes the assumptions of `from` that hold for `made`. Errors: see Graph::assume.
Result<void> inherit_assumptions(Graph& made, const Graph& from);

}  // namespace jointer
