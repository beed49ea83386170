#pragma once

#include <QCoreApplication>
#include <QPainter>
#include <QPixmap>

#include "views/timeline/timeline_scene.h"

namespace jointer::views {

// The strip that shows the whole step and the visible range in it.
class TimelineOverview {
  Q_DECLARE_TR_FUNCTIONS(TimelineOverview)
 public:
  // Discards the cached curve. Call this when the curve, the colors or the size have changed.
  void forget() { curve_ = {}; }
  void paint(QPainter& painter, const TimelineScene& scene);

 private:
  void paint_curve(const TimelineScene& scene, qreal ratio);

  QPixmap curve_;
};

}  // namespace jointer::views
