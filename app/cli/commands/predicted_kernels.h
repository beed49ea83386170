#pragma once

#include "app/cli/commands/options.h"
#include "core/base/torch_version.h"
#include "core/graph/graph.h"

namespace jointer::cli {

// The kernels that Inductor of this version is predicted to make of a graph, which must not be a
// pair: the same JSON as the answer of `python -m jointer kernels`, without `ms`; `source` is
// "predicted".
Json predicted_kernels(const Graph& graph, TorchVersion version);

}  // namespace jointer::cli
