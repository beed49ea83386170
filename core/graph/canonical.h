#pragma once

// The canonical text of a graph, and its hash, which identifies the graph. docs/hash.md defines
// both; the Python package computes the same from a live GraphModule.

#include <string>

#include "core/graph/graph.h"

namespace jointer {

// One line per node, in program order: `NAME TARGET(ARGS) -> VALUE`.
std::string canonical_text(const Graph& graph, PartId part);

// The node's line of that text without the name: `TARGET(ARGS) -> VALUE`.
std::string canonical_call(const Graph& graph, NodeId id);

// SHA-256 of the canonical text, in lower-case hexadecimal.
std::string graph_hash(const Graph& graph, PartId part);

// The hash of all parts. A pair has one hash per half: "FORWARD+BACKWARD".
std::string graph_hash(const Graph& graph);

}  // namespace jointer
