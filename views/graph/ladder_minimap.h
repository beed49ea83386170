#pragma once

#include <QPainter>
#include <QPixmap>

#include "views/graph/ladder_painter.h"

namespace jointer::views {

// The strip that shows the whole ladder and marks the visible part and the current node. Stays
// empty if the whole ladder fits in the view, or if the strip is too short.
class LadderMinimap {
 public:
  // Discards the cached rows. Call this after the rows, their colors or the theme have changed.
  void forget() { rows_ = {}; }
  void paint(QPainter& painter, const LadderScene& scene, const QRect& map);

 private:
  QPixmap rows_;
};

}  // namespace jointer::views
