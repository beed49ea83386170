#pragma once

#include <span>
#include <vector>

#include "core/graph/users.h"
#include "views/graph/ladder_layout.h"

namespace jointer::views {

// The selection and the nodes found by a search, as shown in the ladder.
struct LadderMarks {
  // For each row, the numbers of selected nodes in the forward and in the backward, including those
  // in the rows below.
  std::vector<std::array<std::int32_t, 2>> selected;
  std::vector<NodeId> nodes;  // the selected nodes, sorted by id
  // The numbers of nodes found by a search, counted in the same way.
  std::vector<std::array<std::int32_t, 2>> found;
  std::vector<NodeId> hits;  // the nodes found by a search, sorted by id
  NodeId current;
  LadderPlace current_place;  // the node `current`, or the collapsed row that contains it
  LadderSide current_side = LadderSide::forward;
  // The row with keyboard focus, or -1 if a node or nothing has the focus.
  int focus_row = -1;
  LadderSide focus_side = LadderSide::forward;
  // A place that shows an input or a user of the current node, but not the node itself. There is
  // one entry per place and direction, and their number is limited.
  struct Flow {
    LadderPlace place;
    LadderSide side = LadderSide::forward;
    bool is_input = false;
    bool has_rung = false;  // a rung connects it with the current place; parameters have none
  };
  std::vector<Flow> flows;

  [[nodiscard]] bool contains(NodeId node) const;
  [[nodiscard]] bool is_hit(NodeId node) const;
};

LadderMarks make_marks(const Graph& graph, const Users& users, const Ladder& ladder,
                       const LadderLayout& layout, std::span<const NodeId> nodes, NodeId current);
// Sets `found` and `hits`.
void mark_hits(const Graph& graph, const Ladder& ladder, std::span<const NodeId> hits,
               LadderMarks& marks);

}  // namespace jointer::views
