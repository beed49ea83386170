#pragma once

#include <QCoreApplication>
#include <QPainter>
#include <QString>
#include <cstdint>

#include "views/timeline/timeline_scene.h"

namespace jointer::views {

// "capacity 80.0 GiB"; an arrow before it points to the line if that is above or below the axis.
QString capacity_text(std::int64_t capacity, const BytesView& axis);

// Paints the memory curve and everything on top of it: the reserved memory, the graph as opened,
// the measurement, the lifetime of the current node's storage, the device's memory, the peaks, and
// a note if only part of the memory axis is visible.
class MemoryPainter {
  Q_DECLARE_TR_FUNCTIONS(MemoryPainter)
 public:
  explicit MemoryPainter(const TimelineScene& scene) : scene_(scene) {}
  void paint(QPainter& painter) const;

 private:
  void paint_reserved(QPainter& painter, const MemoryTrack& track) const;
  void paint_ghost(QPainter& painter, const MemoryTrack& track) const;
  void paint_lifetime(QPainter& painter) const;
  [[nodiscard]] QRect capacity_label(const QFontMetrics& metrics, const MemoryTrack& track) const;
  void paint_capacity(QPainter& painter, const QRect& label, const MemoryTrack& track) const;
  void paint_peak(QPainter& painter, const MemoryTrack& track) const;
  void paint_measured_peak(QPainter& painter, const MemoryTrack& track) const;
  void paint_mark(QPainter& painter, QPoint at, const QColor& color) const;
  void paint_zoom(QPainter& painter) const;

  const TimelineScene& scene_;
};

}  // namespace jointer::views
