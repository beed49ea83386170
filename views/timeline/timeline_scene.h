#pragma once

#include <QFont>
#include <QRect>

#include "views/theme/theme.h"
#include "views/timeline/lane_track.h"
#include "views/timeline/memory_track.h"
#include "views/timeline/timeline_content.h"
#include "views/timeline/timeline_layout.h"
#include "views/widgets/axis_view.h"

namespace jointer::views {

// A timeline as it is on screen. Holds references, so a scene is valid only during painting or hit
// testing.
struct TimelineScene {
  const TimelineContent& content;
  const AxisView& axis;
  const TimelineLayout& layout;
  const Theme& theme;
  BytesView bytes;  // the bytes that the memory curve's axis shows
  QFont font;
  QRect viewport;

  // The row of labels for the peak of the estimate, the measurement or the plan.
  [[nodiscard]] QRect estimate_label() const { return label_row(0); }
  [[nodiscard]] QRect measured_label() const { return label_row(1); }
  [[nodiscard]] QRect plan_label() const {
    return label_row(static_cast<std::size_t>(content.label_count() - 1));
  }
  [[nodiscard]] QRect label_row(std::size_t row) const {
    return row < layout.labels.size() ? layout.labels[row] : QRect();
  }
  [[nodiscard]] const Lane& lane(std::size_t row) const {
    return content.lane(content.rows()[row]);
  }
  [[nodiscard]] LaneTrack lane_track(std::size_t row) const {
    const bool is_measured = content.has_measured_times(content.rows()[row]);
    return {
        content.shown().graph, lane(row), axis,
        layout.lane[row],      theme,     is_measured ? LaneStyle::measured : LaneStyle::estimated};
  }
  [[nodiscard]] MemoryTrack memory_track() const {
    return {content.data(), axis, layout.memory, bytes, theme};
  }
};

}  // namespace jointer::views
