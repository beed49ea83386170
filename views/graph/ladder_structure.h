#pragma once

// What makes two modules identical: the same operators on the same shapes, joined in the same way,
// under the same names below them; in whatever order they run.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace jointer::views {

// A tree of named spots with nodes in them; a parent comes before its children.
struct SpotName {
  std::string name;
  int parent = -1;
};

// A hash by spot. Cost: linear in edges times depth.
std::vector<std::uint64_t> spot_structures(const Graph& graph, std::span<const SpotName> spots,
                                           std::span<const int> spot_by_node);

}  // namespace jointer::views
