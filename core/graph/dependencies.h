#pragma once

// Dependencies: the pairs of nodes whose order every legal reordering preserves. dependencies.cpp
// states the rules. Valid as long as no node of the graph changes, even if the order does.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/lists.h"
#include "core/graph/graph.h"

namespace jointer {

enum class DependencyKind : std::uint8_t {
  data,     // one reads the result of the other
  write,    // one writes to memory that the other reads or writes
  control,  // another reason: random draws, side effects, checks, symbols, stream operators
};

// Why a dependency is of kind `control`; if there are several reasons, one of them.
enum class ControlReason : std::uint8_t {
  none,       // the dependency is of another kind
  draws,      // both may draw from a random generator or set its state
  acts,       // both may act on something outside the graph, or check something other than symbols
  symbol,     // one defines a symbol that the other uses
  check,      // one checks a symbol that the other uses
  separates,  // nothing moves across one of them
};

struct Dependency {
  NodeId node;
  DependencyKind kind = DependencyKind::data;
  ControlReason reason = ControlReason::none;
};

// True if no node may move across this node.
inline bool is_wall(const Node& node) {
  return node.kind == NodeKind::placeholder || node.kind == NodeKind::output;
}

class Dependencies {
 public:
  // The graph's current order decides the direction of write and control dependencies.
  explicit Dependencies(const Graph& graph);

  // The nodes of the same part that must run before or after `node`, each once. A dependency that
  // follows from two others through a third node may be missing.
  [[nodiscard]] std::span<const Dependency> before(NodeId node) const {
    return before_.of(node.index());
  }
  [[nodiscard]] std::span<const Dependency> after(NodeId node) const {
    return after_.of(node.index());
  }

  // The last placeholder or output before `node` and the first one after it, or none. They do not
  // move, and no node moves across them. This alone is not a dependency: `before` and `after` list
  // a wall only if another rule keeps its order with `node`, for example because `node` reads it.
  [[nodiscard]] NodeId wall_before(NodeId node) const { return walls_before_[node.index()]; }
  [[nodiscard]] NodeId wall_after(NodeId node) const { return walls_after_[node.index()]; }

 private:
  void find_walls(const Graph& graph);
  void invert();

  Lists<Dependency> before_, after_;                // by node
  std::vector<NodeId> walls_before_, walls_after_;  // by node
};

}  // namespace jointer
