#pragma once

// Which nodes of two graphs differ, and in what. Plain data.

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
  NodeId node;              // of the second graph; of what was removed, of the first
  std::int64_t places = 0;  // moved: how many later it runs, below 0 earlier
};

class NodeDifferences {
 public:
  // On a working thread: n log n. Error (usage): one is a pair, the other not.
  static Result<NodeDifferences> find(std::shared_ptr<const Graph> from,
                                      std::shared_ptr<const Graph> to);

  // In program order, removed ones last.
  [[nodiscard]] const std::vector<NodeDifference>& nodes() const { return nodes_; }
  [[nodiscard]] const GraphDifference& difference() const { return difference_; }
  // "moved 12 of 10,944 · added 2 · removed 3"
  [[nodiscard]] QString summary() const;

  // Where a node of `nodes` is.
  [[nodiscard]] const Graph& graph_of(const NodeDifference& node) const {
    return node.change == NodeChange::removed ? *from_ : *to_;
  }
  [[nodiscard]] const Module& module_of(const NodeDifference& node) const;
  // How it differs, in a few words: "from all_gather_77", "it was aten.reshape.default"; empty
  // where `change` says it all.
  [[nodiscard]] QString detail(const NodeDifference& node) const;

 private:
  NodeDifferences(std::shared_ptr<const Graph> from, std::shared_ptr<const Graph> to,
                  GraphDifference difference);

  std::shared_ptr<const Graph> from_, to_;
  ModuleTree from_modules_, to_modules_;
  GraphDifference difference_;
  std::vector<NodeDifference> nodes_;
  std::unordered_map<std::string, NodeId> in_place_of_;  // of what was removed, by name
};
using NodeDifferencesPtr = std::shared_ptr<const NodeDifferences>;

}  // namespace jointer::views
