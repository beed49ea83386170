#pragma once

#include <QPainter>
#include <QPainterPath>

#include "views/graph/ladder.h"
#include "views/theme/theme.h"

namespace jointer::views {

// The line style of a rung, distinguishable without color: solid if saved, dashed if recomputed,
// and two rails with ties if offloaded to the host, or dotted where the line is too thin for them.
struct RungStyle {
  RungState state = RungState::save;
  bool is_saved = true;  // false: it is recomputed
  QColor color, inside;  // of the line, and between the rails
  double width = 1;      // in pixels
  double scale = 1;      // scale of the drawing
};
void draw_rung(QPainter& painter, const QPainterPath& path, const RungStyle& style);

}  // namespace jointer::views
