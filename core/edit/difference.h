#pragma once

// What two graphs differ in, by the names of their nodes, and the edit that makes one the other.

#include <vector>

#include "core/edit/edit.h"

namespace jointer {

struct GraphDifference {
  std::vector<NodeId> moved;  // of `after`, like the next three; as few as can be
  std::vector<NodeId> added;  // names that `before` does not have
  std::vector<NodeId>
      changed;  // calls something else, with other arguments, or returns something else
  std::vector<NodeId> retagged;  // calls with another memory policy
  std::vector<NodeId> removed;   // of `before`
  std::size_t common = 0;        // nodes that both have: "moved N of M"

  [[nodiscard]] bool empty() const {
    return moved.empty() && added.empty() && changed.empty() && retagged.empty() && removed.empty();
  }
};

// Both whole graphs, or both pairs. Which nodes count as moved: all but a longest sequence of nodes
// that stand in the same order in both. Cost: n log n. Error (usage): one is a pair, the other not.
Result<GraphDifference> compare_graphs(const Graph& before, const Graph& after);

// Applied to `before`, gives a graph with the hash, the policies and the shared storages of
// `after`. Error (usage), in one sentence: they differ in what no edit changes: placeholders,
// constants, the number of outputs.
Result<Edit> difference(const Graph& before, const Graph& after);

}  // namespace jointer
