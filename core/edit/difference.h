#pragma once

// Compares two graphs by the names of their nodes or by their structure, and computes the edit that
// turns one into the other.

#include <vector>

#include "core/edit/edit.h"
#include "core/edit/node_match.h"

namespace jointer {

// The lists are in program order; for a pair, the nodes of the forward come first.
struct GraphDifference {
  std::vector<NodeId> moved;     // nodes of `after`, like the next three; as few as possible
  std::vector<NodeId> added;     // they correspond to no node of `before`
  std::vector<NodeId> changed;   // their operator, arguments or value differ
  std::vector<NodeId> retagged;  // calls whose memory policy or checkpointed region differs
  std::vector<NodeId> removed;   // nodes of `before`
  std::size_t common = 0;        // nodes in both graphs: "moved N of M"

  [[nodiscard]] bool empty() const {
    return moved.empty() && added.empty() && changed.empty() && retagged.empty() && removed.empty();
  }
};

// Compares whole graphs or pairs. The moved nodes are all common nodes except a longest sequence
// that has the same order in both graphs. Cost: n log n. Error (usage): only one of them is a pair.
Result<GraphDifference> compare_graphs(const Graph& before, const Graph& after);
// The same with a given match of nodes. Both graphs must have the same number of parts.
GraphDifference compare_graphs(const Graph& before, const Graph& after, const NodeMatch& match);
// Error (usage): only one of the two is a pair, so they cannot be compared.
Result<void> check_comparable(const Graph& before, const Graph& after);

// Returns the edit that turns `before` into a graph with the hash, the policies, the annotations
// and the shared storages of `after`. Error (usage), in one sentence: only one of the graphs is a
// pair, or they differ in something that no edit can change, such as placeholders or constants. If
// the numbers of outputs differ, there is no error here, but `apply` refuses the edit.
Result<Edit> difference(const Graph& before, const Graph& after);

}  // namespace jointer
