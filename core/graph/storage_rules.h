#pragma once

// Which memory a call's results may lie in, decided by what the operator is.

#include "core/graph/graph.h"

namespace jointer {

// Mends storages that the operators contradict: captures taken after passes may carry the memory of
// the call that a copied call was copied from. Facts of the graph say how many tensors were mended.
// Call it on a graph whose nodes, values and storages are complete, before Graph::finish.
void correct_storages(Graph& graph);

}  // namespace jointer
