#pragma once

// The nodes that differ between two graphs, and how they differ.

#include <QString>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/edit/difference.h"
#include "core/graph/module_tree.h"

namespace jointer::views {

enum class NodeChange : std::uint8_t { moved, added, removed, changed, retagged };
QString change_text(NodeChange change);

struct NodeDifference {
  NodeChange change = NodeChange::moved;
  NodeId node;              // in the second graph, or in the first if it was removed
  std::int64_t places = 0;  // number of positions that a moved node moved; negative: earlier
};

// How the nodes of the two graphs correspond; see NodeMatch.
enum class Matching : std::uint8_t { by_name, closest };

class NodeDifferences {
 public:
  // Call it on a worker thread; O(n log n). Error (usage): only one of the graphs is a pair.
  static Result<NodeDifferences> find(std::shared_ptr<const Graph> from,
                                      std::shared_ptr<const Graph> to,
                                      Matching matching = Matching::by_name);

  // In program order, with removed nodes last.
  [[nodiscard]] const std::vector<NodeDifference>& nodes() const { return nodes_; }
  [[nodiscard]] const GraphDifference& difference() const { return difference_; }
  // For example, "12 of 10,944 nodes moved · 2 added · 3 removed".
  [[nodiscard]] QString summary() const;
  // True if nodes correspond by their names.
  [[nodiscard]] bool is_by_name() const { return match_.is_by_name(); }

  // The graph that contains this node.
  [[nodiscard]] const Graph& graph_of(const NodeDifference& node) const {
    return node.change == NodeChange::removed ? *from_ : *to_;
  }
  [[nodiscard]] const Module& module_of(const NodeDifference& node) const;
  // A short description, such as "from all_gather_77" or "was aten.reshape.default". Empty if
  // there is nothing to add to `change`.
  [[nodiscard]] QString detail(const NodeDifference& node) const;

 private:
  NodeDifferences(std::shared_ptr<const Graph> from, std::shared_ptr<const Graph> to,
                  NodeMatch match);

  std::shared_ptr<const Graph> from_, to_;
  NodeMatch match_;
  ModuleTree from_modules_, to_modules_;
  GraphDifference difference_;
  std::vector<NodeDifference> nodes_;
  std::unordered_map<std::string, NodeId> in_place_of_;  // replacements, by name of removed node
};
using NodeDifferencesPtr = std::shared_ptr<const NodeDifferences>;

}  // namespace jointer::views
