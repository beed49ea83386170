#pragma once

#include <QCoreApplication>
#include <QPainter>
#include <span>

#include "views/timeline/timeline_scene.h"

namespace jointer::views {

// Paints the ruler and the marks along the axis: the selected range, the user's marks, and the
// current moment.
class RulerPainter {
  Q_DECLARE_TR_FUNCTIONS(RulerPainter)
 public:
  explicit RulerPainter(const TimelineScene& scene) : scene_(scene) {}
  void paint_ruler(QPainter& painter) const;
  void paint_range(QPainter& painter) const;
  // `moments`: points in the memory profile.
  void paint_marks(QPainter& painter, std::span<const std::size_t> moments) const;
  void paint_distances(QPainter& painter, std::span<const std::size_t> moments) const;
  void paint_moment(QPainter& painter) const;

 private:
  const TimelineScene& scene_;
};

}  // namespace jointer::views
