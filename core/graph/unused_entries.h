#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Table entries, by id, that edits have left without a live node that uses them: only an erased
// node or a replaced value used them, or an edit added them. They stay in the graph's tables for
// undo, but are neither written nor counted.
struct UnusedEntries {
  std::vector<bool> storages, module_stacks, stacks;
};
UnusedEntries find_unused_entries(const Graph& graph);
// The same for storages alone.
std::vector<bool> find_unused_storages(const Graph& graph);

}  // namespace jointer
