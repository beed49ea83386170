#pragma once

#include "core/base/id.h"
#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Returns one half of a pair as a separate graph, as a compiler gets it. Nodes keep their names;
// ids differ from those in the pair, and storages are those of the half's capture.
// Cost: that of writing the half as a capture and reading it. Error (input): the half is not a
// valid graph.
Result<Graph> half_graph(const Graph& pair, PartId half);

}  // namespace jointer
