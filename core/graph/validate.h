#pragma once

#include "core/graph/graph.h"

namespace jointer {

// Checks the invariants of a graph, which hold after every read, edit and pass:
//  - the program order contains each live node once;
//  - names are unique within a part and not empty;
//  - a node reads only live nodes of the same part that come before it, so there is no cycle;
//  - a part has exactly one output node, its last;
//  - no size is negative, and the bytes of all storages, and of all tensors, add up to at most
//    2^62, so that no sum over the graph overflows;
//  - a tensor's storage exists;
//  - if the output has descriptors, it has one per returned value.
// Unknown operators are allowed; find_warnings counts their calls. Error (input): an invariant is
// violated.
Result<void> validate(const Graph& graph);

// Checks only sizes, which depend on the values of symbols.
Result<void> validate_sizes(const Graph& graph);

// Lists properties that are valid but suspicious, one line each: tensors that reach beyond their
// storage, collectives without a process group, waits without a collective or copy, opaque calls.
std::vector<std::string> find_warnings(const Graph& graph);

}  // namespace jointer
