#pragma once

#include <QObject>
#include <QString>

#include "views/timeline/timeline_content.h"
#include "views/widgets/axis_view.h"

namespace jointer::views {

// The visible range of a timeline's axis. It follows the content: if the axis changes or the graph
// is estimated anew, the same part of the step stays visible; after an edit, the same range of
// positions.
class TimelineRange : public QObject {
  Q_OBJECT
 public:
  // `content` must outlive this object.
  explicit TimelineRange(const TimelineContent& content);

  [[nodiscard]] const AxisView& axis() const { return axis_; }
  // "120 ms to 180 ms", "1,200 to 1,300" in program order, or "all 412 ms" for the whole axis.
  [[nodiscard]] QString text() const;
  // Sets the position and the width of the axis on screen, in pixels. Does not emit `changed`.
  void set_pixels(int left, int width) { axis_.set_pixels(left, width); }

  void zoom_at(double pixel, double factor);
  void pan_by(double pixels);
  // Shows [begin, end] with a margin on both sides, given as a fraction of the range.
  void show(std::int64_t begin, std::int64_t end, double margin);
  // Scrolls to show [begin, end]; see AxisView::reveal.
  void reveal(std::int64_t begin, std::int64_t end);
  // Centers a position that is given as a fraction of the whole axis.
  void center_at(double share);

 public slots:
  void fit();
  // `share`: a fraction of the visible width; negative pans to the left.
  void pan(double share) { pan_by(share * axis_.width()); }
  void show_selection();

 signals:
  void changed();

 private:
  void follow_kind(AxisKind kind, AxisKind before);
  void follow_snapshot(const SnapshotPtr& before);
  void follow_measurement();

  const TimelineContent& content_;
  AxisView axis_;
};

}  // namespace jointer::views
