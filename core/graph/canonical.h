#pragma once

// The text that identifies a graph, and its hash. Defined in docs/hash.md; the Python package
// computes the same on a live GraphModule.

#include <string>

#include "core/graph/graph.h"

namespace jointer {

// One line a node in program order: `NAME TARGET(ARGS) -> VALUE`.
std::string canonical_text(const Graph& graph, PartId part);

// One line of it without the name: `TARGET(ARGS) -> VALUE`.
std::string canonical_call(const Graph& graph, NodeId id);

// SHA-256 of the canonical text, in lower-case hexadecimal.
std::string graph_hash(const Graph& graph, PartId part);

// A pair has one hash a half: "FORWARD+BACKWARD".
std::string graph_hash(const Graph& graph);

}  // namespace jointer
