#pragma once

// Combines moves of several nodes into one edit. Each node is moved in the graph that the previous
// moves left. No Qt.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/edit/edit.h"
#include "core/graph/users.h"
#include "core/schedule/what_if.h"

namespace jointer::views {

class PlannedMoves {
 public:
  // Chooses the gap, within the range, that a block moves to.
  using Target = std::function<std::size_t(const WhatIf& what_if, const LegalRange& range,
                                           std::span<const NodeId> block)>;

  // `what_if` has the order of `graph`, follows each move, and must outlive this object.
  // `direction`: negative to move earlier; refusals name the constraint on that side.
  PlannedMoves(const Graph& graph, WhatIf& what_if, int direction);

  // From now on, cheap nodes that feed a start or read a wait move along.
  void carry_along();
  void add(NodeId node, const Target& target);
  [[nodiscard]] bool empty() const { return changes_.empty(); }
  // Why the first refused node stays in place; empty if none was refused.
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
  std::optional<Users> users_;               // set if cheap nodes move with it
  std::vector<std::vector<NodeId>> starts_;  // of the collectives, in the original order
  std::vector<Change> changes_;
  std::string refusal_, last_title_;
  std::int64_t asked_ = 0;
};

}  // namespace jointer::views
