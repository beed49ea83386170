#pragma once

#include <QPainter>
#include <QPixmap>

#include "views/graph/ladder_painter.h"

namespace jointer::views {

// The strip that shows the whole ladder and marks the visible part and the current node. Stays
// empty while the view is high enough for the ladder.
class LadderMinimap {
 public:
  // Discards the cached rows. Call this after the rows, their colors or the theme have changed.
  void forget() { rows_ = {}; }
  void paint(QPainter& painter, const LadderScene& scene, const QRect& map);

 private:
  QPixmap rows_;
};

}  // namespace jointer::views
