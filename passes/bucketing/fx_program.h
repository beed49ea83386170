#pragma once

// One half of a graph as passes on torch.fx see it: a linked list of nodes, and who reads whom by
// arguments alone. Nodes are put in and moved in constant time; the graph learns its order at the
// end. The rules are at the top of fx_program.cpp.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/graph/dependencies.h"
#include "core/graph/graph.h"

namespace jointer {

class FxProgram {
 public:
  // The graph must outlive it. Between calls its arguments are changed through it alone.
  FxProgram(Graph& graph, PartId part);

  [[nodiscard]] NodeId first() const { return first_; }
  [[nodiscard]] NodeId next(NodeId node) const { return next_[node.index()]; }
  // Who reads it, each once, in the order in which they came to.
  [[nodiscard]] const std::vector<NodeId>& users(NodeId node) const { return users_[node.index()]; }
  // By node id; of nodes that are not in the list, nothing to be looked at.
  [[nodiscard]] std::vector<std::uint32_t> places() const;

  // A node that was added to the graph and is not in the list yet.
  void insert(NodeId node, NodeId before);
  void move_before(NodeId node, NodeId before);
  void move_behind(NodeId node, NodeId behind);
  // What a call in the list is called with from here on.
  void set_call(NodeId node, const Argument& args, const Argument& kwargs);
  // One reader of `node` reads `by`.
  void replace_use(NodeId user, NodeId node, NodeId by);
  // Readers of `node` read `by`, and so do outputs.
  void replace_uses(NodeId node, NodeId by);
  // Nobody may read it. It leaves the graph with apply().
  void erase(NodeId node);

  // Puts nodes behind what they read, all or those from `first` to `last`, as torch does. Error
  // (usage): they read each other in a circle; a node is named.
  Result<void> sort() { return sort(first_, {}); }
  Result<void> sort(NodeId first, NodeId last);
  // The same, where one of `changed` stands before what it reads, or behind what reads it.
  Result<void> sort_if_needed(std::span<const NodeId> changed);

  // Gives the graph this order, and takes what was erased out of it.
  void apply();
  // The same, with dependencies that arguments do not show kept. Gives the first node that stood
  // before one of them, or none. Error (usage): as stable_order.
  Result<NodeId> apply(const Dependencies& dependencies);

 private:
  void link(NodeId node, NodeId after, NodeId before);
  void unlink(NodeId node);
  Argument with(const Argument& argument, NodeId node, NodeId by);

  Graph& graph_;
  PartId part_;
  NodeId first_, last_;
  std::vector<NodeId> next_, previous_;     // by node
  std::vector<std::vector<NodeId>> users_;  // by node
  std::vector<NodeId> erased_;
};

}  // namespace jointer
