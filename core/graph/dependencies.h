#pragma once

// What must come before what, beyond a person's wishes. The rules are at the top of
// dependencies.cpp. Valid while the graph's arguments do not change, whatever its order becomes.

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

enum class DependencyKind : std::uint8_t {
  data,     // it reads what the other makes
  write,    // one of them writes to memory that the other reads or writes
  control,  // their effects must keep their order: random operators, tokens, checks on values
};

struct Dependency {
  NodeId node;
  DependencyKind kind = DependencyKind::data;
};

// Nothing moves over it.
inline bool is_wall(const Node& node) {
  return node.kind == NodeKind::placeholder || node.kind == NodeKind::output;
}

class Dependencies {
 public:
  // Write and control dependencies are between neighbours in the graph's present order.
  explicit Dependencies(const Graph& graph);

  // Nodes of the same part that must run before `node`, and those that must run after it; each
  // once. What follows from others through a third node need not be among them.
  [[nodiscard]] std::span<const Dependency> before(NodeId node) const {
    return slice(first_before_, before_, node);
  }
  [[nodiscard]] std::span<const Dependency> after(NodeId node) const {
    return slice(first_after_, after_, node);
  }

  // Placeholders and outputs stay, and nothing moves over them: the last one before `node` and the
  // first after it; none where there is none. They are walls and not dependencies: of a node that
  // does not read them they are not listed above.
  [[nodiscard]] NodeId wall_before(NodeId node) const { return walls_before_[node.index()]; }
  [[nodiscard]] NodeId wall_after(NodeId node) const { return walls_after_[node.index()]; }

 private:
  static std::span<const Dependency> slice(const std::vector<std::uint32_t>& first,
                                           const std::vector<Dependency>& all, NodeId node) {
    return std::span(all).subspan(first[node.index()],
                                  first[node.index() + 1] - first[node.index()]);
  }
  void find_walls(const Graph& graph);
  void invert();

  std::vector<std::uint32_t> first_before_, first_after_;  // by node; one more than nodes
  std::vector<Dependency> before_, after_;
  std::vector<NodeId> walls_before_, walls_after_;  // by node
};

}  // namespace jointer
