#pragma once

#include <span>
#include <vector>

#include "core/graph/users.h"
#include "views/graph/ladder_layout.h"

namespace jointer::views {

// What of the ladder is selected.
struct LadderMarks {
  // By row, forward and backward: how many of its nodes are selected, rows below it included.
  std::vector<std::array<std::int32_t, 2>> selected;
  std::vector<NodeId> nodes;  // sorted by id
  NodeId current;
  LadderPlace current_place;  // of `current`: a node, or the closed row that it is in
  LadderSide current_side = LadderSide::forward;
  // The row that keys work on; -1: a node has them.
  int focus_row = -1;
  LadderSide focus_side = LadderSide::forward;
  // What the current node reads, and who reads it, as far as they are elsewhere on screen.
  struct Flow {
    LadderPlace place;
    LadderSide side = LadderSide::forward;
    bool is_input = false;
  };
  std::vector<Flow> flows;

  [[nodiscard]] bool contains(NodeId node) const;
};

LadderMarks make_marks(const Graph& graph, const Users& users, const Ladder& ladder,
                       const LadderLayout& layout, std::span<const NodeId> nodes, NodeId current);

}  // namespace jointer::views
