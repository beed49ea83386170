#pragma once

#include <string>

#include "core/graph/graph.h"

namespace jointer {

// The graph as a native capture: one document, or one of kind `pair`. Reading a capture and writing
// it gives an equal document. Assumptions that a person made are written as `symbols.assumed`.
std::string write_native(const Graph& graph);

// One half of a pair as a capture by itself.
std::string write_native(const Graph& graph, PartId part);

}  // namespace jointer
