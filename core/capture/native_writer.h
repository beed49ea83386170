#pragma once

#include <string>

#include "core/graph/graph.h"

namespace jointer {

// Returns the graph as a native capture, of kind `pair` if the graph is a pair. Reading a capture
// and writing it produces an equal document. The user's assumptions are written as
// `symbols.assumed`.
std::string write_native(const Graph& graph);

// Returns one part, such as a half of a pair, as a separate capture.
std::string write_native(const Graph& graph, PartId part);

}  // namespace jointer
