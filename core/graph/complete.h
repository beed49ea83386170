#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// The last step of every reader: corrects storages that contradict the operators, derives phases
// and roles, links the halves of a pair, evaluates symbolic sizes, joins storages that share
// memory, calls `validate`, and adds warnings to Graph::facts. Error (input): the graph is invalid;
// the message does not name the file.
Result<void> complete(Graph& graph);
// The same for a graph that was made from `from`, whose assumptions it inherits
// (inherited_assumptions.h). Also fails if its sizes are invalid under these assumptions.
Result<void> complete(Graph& graph, const Graph& from);

}  // namespace jointer
