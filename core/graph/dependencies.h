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
  write,    // one of them writes to a storage that the other reads or writes
  control,  // their effects must keep their order: random operators, tokens, checks on values
};

struct Dependency {
  NodeId node;
  DependencyKind kind = DependencyKind::data;
};

class Dependencies {
 public:
  // Write and control dependencies are between neighbours in the graph's present order.
  explicit Dependencies(const Graph& graph);

  // Nodes that must run before `node`, and those that must run after it; each once.
  [[nodiscard]] std::span<const Dependency> before(NodeId node) const;
  [[nodiscard]] std::span<const Dependency> after(NodeId node) const;

 private:
  std::vector<std::uint32_t> first_before_, first_after_;  // by node; one more than nodes
  std::vector<Dependency> before_, after_;
};

}  // namespace jointer
