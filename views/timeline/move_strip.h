#pragma once

#include <QPainter>
#include <QRect>

#include "views/session/edit/move_planner.h"
#include "views/theme/theme.h"
#include "views/timeline/gap_scale.h"
#include "views/timeline/timeline_layout.h"

namespace jointer::views {

// Why no position of a held block is marked as best; empty if one is.
QString flat_text(const HeldMove& held);

// Shows, on top of the timeline, where a held block can move: everything outside of the legal range
// is dimmed, and a strip shows the exposed time and the peak at every position, the best positions,
// and the constraint at each end.
class MoveStrip {
 public:
  MoveStrip(const HeldMove& held, const GapScale& scale, const AxisView& axis,
            const TimelineLayout& layout, const Theme& theme)
      : held_(held), scale_(scale), axis_(axis), layout_(layout), theme_(theme) {}

  // `content`: the area along the axis, from the ruler to the lanes.
  void paint_range(QPainter& painter, const QRect& content) const;
  void paint_strip(QPainter& painter) const;

  // The area of the strip.
  [[nodiscard]] QRect area() const;
  // The headline above the curves, such as "wait_tensor_91: 412 positions earlier · exposed 120 ms
  // (−28.0 ms) ...".
  [[nodiscard]] QString headline() const;

 private:
  struct Row {
    QRect area;
    QString name;
    std::int64_t Figures::*value;
    QColor color;
    QString (*text)(std::int64_t value);
  };
  [[nodiscard]] int x_of(std::size_t gap) const;
  void paint_row(QPainter& painter, const Row& row) const;
  void paint_marks(QPainter& painter, const QRect& labels, const QRect& rows) const;
  void paint_ends(QPainter& painter, const QRect& line) const;
  void paint_notes(QPainter& painter, const QRect& line) const;

  const HeldMove& held_;
  const GapScale& scale_;
  const AxisView& axis_;
  const TimelineLayout& layout_;
  const Theme& theme_;
};

}  // namespace jointer::views
