#pragma once

// Keyboard navigation in a ladder, starting from the current row or node.

#include <cstdint>

#include "views/graph/ladder_marks.h"
#include "views/graph/ladder_model.h"

namespace jointer::views {

struct LadderStep {
  enum class Kind : std::uint8_t { none, select_row, select_node, open_row, close_row };
  Kind kind = Kind::none;
  int row = -1;
  LadderSide side = LadderSide::forward;
  std::size_t node = 0;  // index in Ladder::boxes
};

// The position from which navigation starts. `side` is the side of the row with keyboard focus.
struct LadderPosition {
  const LadderModel& model;
  const LadderMarks& marks;
  LadderSide side = LadderSide::forward;
};

// Goes to the row below, or to the row above if `direction` is negative. Going up from a node leads
// to the row that contains it.
LadderStep step_rows(const LadderPosition& from, int direction);
// Goes to the nearest node in the same group; horizontal movement stays within a rank. Returns
// Kind::none if a row has the focus, if no box shows the current node, or if there is no node in
// that direction.
LadderStep step_nodes(const LadderPosition& from, bool is_vertical, int direction);
// Expands the row. If it is already expanded, goes to its first child row or to its topmost node.
LadderStep step_in(const LadderPosition& from);
// Goes from a node to its row. Collapses a row or, if it is collapsed, goes to the row that
// contains it.
LadderStep step_out(const LadderPosition& from);

}  // namespace jointer::views
