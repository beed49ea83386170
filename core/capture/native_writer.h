#pragma once

#include <string>

#include "core/graph/graph.h"

namespace jointer {

// The graph as a native capture: one document, or one of kind `pair`. Reading a capture and writing
// it again gives an equal document. The user's assumptions are written as `symbols.assumed`.
std::string write_native(const Graph& graph);

// One half of a pair as a capture of one graph.
std::string write_native(const Graph& graph, PartId part);

}  // namespace jointer
