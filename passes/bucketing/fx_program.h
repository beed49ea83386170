#pragma once

// One half of a graph as passes on torch.fx see it: a linked list of nodes, with users determined
// by arguments alone. Inserting or moving a node takes constant time. The graph's order changes
// only when the list is applied. fx_program.cpp describes the rules.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/graph/dependencies.h"
#include "core/graph/graph.h"

namespace jointer {

class PassContext;

// Reports that a node runs later than the pass placed it, because of a dependency that arguments do
// not show.
void report_corrected(PassContext& context, const Graph& graph, NodeId node);

class FxProgram {
 public:
  // The graph must outlive this object. Until apply(), change the graph's arguments only through
  // this object.
  FxProgram(Graph& graph, PartId part);

  [[nodiscard]] NodeId first() const { return first_; }
  [[nodiscard]] NodeId next(NodeId node) const { return next_[node.index()]; }
  // Users of the node, each once, in insertion order.
  [[nodiscard]] const std::vector<NodeId>& users(NodeId node) const { return users_[node.index()]; }
  // The position of each node, by node id; undefined for nodes that are not in the list.
  [[nodiscard]] std::vector<std::uint32_t> places() const;

  // Inserts a node of the graph that is not yet in the list.
  void insert(NodeId node, NodeId before);
  void move_before(NodeId node, NodeId before);
  void move_after(NodeId node, NodeId behind);
  // Sets the arguments of a call in the list.
  void set_call(NodeId node, const Argument& args, const Argument& kwargs);
  // Makes `user` read `by` instead of `node`.
  void replace_use(NodeId user, NodeId node, NodeId by);
  // Makes all readers of `node`, including outputs, read `by` instead.
  void replace_uses(NodeId node, NodeId by);
  // Removes a node without readers from the list. apply() removes it from the graph.
  void erase(NodeId node);

  // Moves nodes after the nodes that they read, as torch does: all nodes, or those from `first` to
  // `last`. Error (usage): nodes read each other in a cycle; the message names two of them.
  Result<void> sort() { return sort(first_, {}); }
  Result<void> sort(NodeId first, NodeId last);
  // Sorts all nodes if one of `changed` precedes a node that it reads or follows one of its
  // readers.
  Result<void> sort_if_needed(std::span<const NodeId> changed);

  // Applies this order to the graph and removes erased nodes from it.
  void apply();
  // Like apply(), but also preserves dependencies that arguments do not show. Returns the first
  // node that preceded a node it depends on in this way, or none. Error (usage): stable_order
  // fails.
  Result<NodeId> apply(const Dependencies& dependencies);

 private:
  void link(NodeId node, NodeId after, NodeId before);
  void unlink(NodeId node);

  Graph& graph_;
  PartId part_;
  NodeId first_, last_;
  std::vector<NodeId> next_, previous_;     // by node
  std::vector<std::vector<NodeId>> users_;  // by node
  std::vector<NodeId> erased_;
};

}  // namespace jointer
