#pragma once

#include <QPainter>
#include <QPainterPath>

#include "views/graph/ladder.h"
#include "views/theme/theme.h"

namespace jointer::views {

// The line style of a rung. States are distinguishable without color: a saved rung is solid, a
// recomputed rung is dashed, and an offloaded rung has two rails with ties, or is dotted if it is
// too thin for rails.
struct RungStyle {
  RungState state = RungState::save;
  bool is_saved = true;  // see Rung::is_saved
  QColor color, inside;  // colors of the line and between the rails
  double width = 1;      // line width in pixels
  double scale = 1;      // the scale of the drawing
};
void draw_rung(QPainter& painter, const QPainterPath& path, const RungStyle& style);

}  // namespace jointer::views
