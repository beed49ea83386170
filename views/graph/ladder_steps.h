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
  std::size_t node = 0;  // in Ladder::boxes
};

// Where a step starts. `side` is the side of the row with keyboard focus.
struct LadderPosition {
  const LadderModel& model;
  const LadderMarks& marks;
  LadderSide side = LadderSide::forward;
};

// Goes to the row below, or above if `direction` is negative. From a node, up leads to the row that
// contains it.
LadderStep step_rows(const LadderPosition& from, int direction);
// Goes to the nearest node in the same group; horizontal steps stay within a rank. Returns
// Kind::none without a current node, or without a node in that direction.
LadderStep step_nodes(const LadderPosition& from, bool is_vertical, int direction);
// Expands the row. If it is expanded, goes to the row below it or to its topmost node.
LadderStep step_in(const LadderPosition& from);
// From a node, goes to its row. From a row, collapses it, or goes to the row that contains it.
LadderStep step_out(const LadderPosition& from);

}  // namespace jointer::views
