#pragma once

// Defines which modules are identical: those with the same operators on the same shapes, in the
// same phases and process groups, the same connections, and the same names of submodules. The
// execution order does not matter.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace jointer::views {

// A node in a tree of named spots. Parents precede their children.
struct SpotName {
  std::string name;
  int parent = -1;
};

// Returns one hash per spot; identical spots have the same hash. Cost: linear in edges times depth.
std::vector<std::uint64_t> spot_structures(const Graph& graph, std::span<const SpotName> spots,
                                           std::span<const int> spot_by_node);

}  // namespace jointer::views
