#pragma once

// Moves of several nodes, each where the ones before it left the graph, that become one edit. No
// Qt.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/edit/editor.h"
#include "core/graph/users.h"
#include "core/schedule/what_if.h"

namespace jointer::views {

class PlannedMoves {
 public:
  // Where a block goes: a gap of the range.
  using Target = std::function<std::size_t(const WhatIf& what_if, const LegalRange& range,
                                           std::span<const NodeId> block)>;

  // `what_if` has the graph's order, goes along, and must outlive it. `direction`: where the nodes
  // are meant to go, below 0 earlier; what holds them on that side is said.
  PlannedMoves(const Graph& graph, WhatIf& what_if, int direction);

  // From now on, with the cheap nodes that feed a start or read a wait.
  void carry_along();
  void add(NodeId node, const Target& target);
  [[nodiscard]] bool empty() const { return changes_.empty(); }
  // The first sentence that says why a node stays where it is; empty if none does.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  // `how`: "one place earlier", "to the best place".
  [[nodiscard]] Edit edit(const std::string& how) const;

 private:
  void refuse(const std::string& sentence);
  [[nodiscard]] std::vector<NodeId> block_of(NodeId node) const;

  Graph graph_;
  Editor editor_;
  WhatIf& what_if_;
  int direction_;
  std::optional<Users> users_;               // while cheap nodes go along
  std::vector<std::vector<NodeId>> starts_;  // of collectives, as they were
  std::vector<Change> changes_;
  std::string refusal_, last_title_;
  std::int64_t asked_ = 0;
};

}  // namespace jointer::views
