#pragma once

// Computes a graph symbolically: the content of each tensor is a hash of its operator and of the
// contents that it read, so equal hashes are equal values. A write changes the content of a storage
// for all of its views.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"

namespace jointer::test {

// The contents of the graph's outputs after a run, in order; for a pair, those of the forward's
// results and of the backward's outputs, without the values saved for backward. 0 for None. Then
// come the contents of the inputs that were written to. Placeholders are distinguished by name.
// Random operators draw no random numbers: equal calls with equal arguments give equal results.
std::vector<std::uint64_t> symbolic_run(const Graph& graph);

}  // namespace jointer::test
