#pragma once

// Matches the nodes of two graphs that correspond to each other. The graphs must have the same
// number of parts.

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

class NodeMatch {
 public:
  // Matches nodes that have the same name and are in the same part.
  static NodeMatch by_name(const Graph& before, const Graph& after);
  // Matches nodes by what they compute and by how they are used, not by name. node_match.cpp
  // describes the method and its cost.
  static NodeMatch by_structure(const Graph& before, const Graph& after);

  // Matches by name if at least half of the calls of `before` have a namesake that calls the same
  // operator, as in states of one document; if not, by structure, because captures may number names
  // differently.
  static NodeMatch closest(const Graph& before, const Graph& after);

  // The corresponding node of the other graph, if any. Each node corresponds to at most one node.
  [[nodiscard]] NodeId in_before(NodeId after) const { return to_before_[after.index()]; }
  [[nodiscard]] NodeId in_after(NodeId before) const { return to_after_[before.index()]; }
  [[nodiscard]] bool is_by_name() const { return is_by_name_; }

 private:
  friend class StructureMatcher;
  NodeMatch(const Graph& before, const Graph& after, bool is_by_name)
      : to_before_(after.node_count()), to_after_(before.node_count()), is_by_name_(is_by_name) {}
  void add(NodeId before, NodeId after) {
    to_after_[before.index()] = after;
    to_before_[after.index()] = before;
  }

  std::vector<NodeId> to_before_, to_after_;
  bool is_by_name_;
};

}  // namespace jointer
