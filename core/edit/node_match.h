#pragma once

// Matches the nodes of two graphs that correspond to each other.

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

class NodeMatch {
 public:
  // Matches nodes that have the same name and are in the same part. The graphs must have the same
  // number of parts.
  static NodeMatch by_name(const Graph& before, const Graph& after);
  // Matches nodes that compute the same result from corresponding nodes and are used in the same
  // way, whatever their names. Deterministic. Cost: n log n.
  static NodeMatch by_structure(const Graph& before, const Graph& after);

  // Matches by name if at least half of the calls have a namesake that calls the same operator, as
  // in states of one document; if not, by structure, because captures may number names differently.
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
