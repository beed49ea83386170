#pragma once

#include <QPainter>
#include <QPainterPath>

#include "views/graph/ladder.h"
#include "views/theme/theme.h"

namespace jointer::views {

// How a line across the ladder is drawn: told apart without colour too. What is saved is a full
// line, what is made again a dashed one; what spends the time on the host is a pair of rails with
// ties, and dotted where it is too thin for them.
struct RungStyle {
  RungState state = RungState::save;
  bool is_kept = true;   // else it is made again
  QColor color, inside;  // of the line, and of what is between rails
  double width = 1;      // pixels
  double scale = 1;      // of the drawing
};
void draw_rung(QPainter& painter, const QPainterPath& path, const RungStyle& style);

}  // namespace jointer::views
