#pragma once

// What a graph computes, without numbers: the content of each tensor is a hash of the operator that
// made it and the contents of what it read, so equal hashes are equal values. Writes change what is
// in a storage for everybody who views it.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"

namespace jointer::test {

// The contents of what the graph returns once all of it has run, by place in its output; of a pair
// the forward's results and the backward's outputs, without what is handed over. 0 for a null.
// Behind them the contents of inputs that were written to.
// Placeholders are told apart by their names. Random operators draw nothing: the same call with the
// same arguments gives the same.
std::vector<std::uint64_t> symbolic_run(const Graph& graph);

}  // namespace jointer::test
