#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// What no live node uses, by id: of storages all that is so, of stacks what an erased node used or
// an edit added. It stays in the graph's tables, so that undo finds it, but is neither written nor
// counted.
struct Leftovers {
  std::vector<bool> storages, module_stacks, stacks;
};
Leftovers find_leftovers(const Graph& graph);

}  // namespace jointer
