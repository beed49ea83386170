#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// What every reader does last: storages that operators contradict, phases, roles, the link between
// the halves of a pair, symbolic sizes, storages that are one, then `validate`. Error: the graph is
// not sound; the message has no file name.
Result<void> complete(Graph& graph);

}  // namespace jointer
