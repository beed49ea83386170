#pragma once

#include <QRect>
#include <QSize>
#include <optional>
#include <span>
#include <vector>

namespace jointer::views {

// The kind of a lane, which determines its height. CPU lanes and measured lanes have less height
// than estimated lanes of other streams; a measured lane is directly below its estimate. A lane of
// kernels, from any source, belongs to no other lane.
enum class LaneKind : std::uint8_t { host, estimated, measured, kernels };

// The areas of the timeline: a gutter for names on the left, and to its right, from top to bottom,
// the legend, ruler, labels, memory curve, lanes, their legend and the overview. In a low view, the
// overview and then the lanes and the curve shrink to their minimum heights; lanes that still do
// not fit scroll.
struct TimelineLayout {
  QRect legend, ruler, memory, lanes, lane_legend, overview;
  std::vector<QRect> labels;  // rows for peak labels, which would otherwise hide the curve
  std::vector<QRect> lane;    // the area of each lane, after scrolling; may be outside of `lanes`
  int gutter = 0;
  int lanes_height = 0;  // total height of all lanes

  // Heights of the legends in pixels, at the width of the view; 0 if a legend is not shown.
  struct Legends {
    int memory = 0, lanes = 0;
  };
  // `label_count`: the number of rows of labels.
  static TimelineLayout make(QSize size, std::span<const LaneKind> kinds, Legends legends,
                             int label_count, int scroll);
  // The width of the axis in a view of this width.
  static int axis_width(int width);
  // Returns true if a view of this height has space for only a small overview and one row of each
  // legend.
  static bool is_low(int height);

  // Left edge and width of the axis.
  [[nodiscard]] int left() const { return memory.left(); }
  [[nodiscard]] int width() const { return memory.width(); }
  // The area along the axis, from the ruler to the lanes.
  [[nodiscard]] QRect content() const {
    return {left(), ruler.top(), width(), lanes.bottom() - ruler.top() + 1};
  }
  // Returns true for a point that shows memory: in the ruler, a label or the curve.
  [[nodiscard]] bool is_in_memory(QPoint point) const;
  [[nodiscard]] std::optional<std::size_t> lane_at(QPoint point) const;
};

}  // namespace jointer::views
