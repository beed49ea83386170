#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Calls that Inductor compiles together while the rest of the graph runs operator by operator. A
// region runs at the position of its last call.
struct Region {
  std::vector<NodeId> calls;    // in program order, at least one
  std::vector<NodeId> results;  // calls that nodes outside the region read
  std::string options;          // that their mark asks for, as JSON; may be empty
};

// The regions of a graph whose calls are marked by `custom["compile_with_inductor"]`
// (core/graph/inductor_mark.h), in program order. Empty if no call is marked. The rules are at the
// top of regions.cpp.
std::vector<Region> find_regions(const Graph& graph);

}  // namespace jointer
