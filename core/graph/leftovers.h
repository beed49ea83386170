#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// What no live node uses because of edits, by id: an erased node or a value that was replaced used
// it, or an edit added it. It stays in the graph's tables, so that undo finds it, but is neither
// written nor counted.
struct Leftovers {
  std::vector<bool> storages, module_stacks, stacks;
};
Leftovers find_leftovers(const Graph& graph);

}  // namespace jointer
