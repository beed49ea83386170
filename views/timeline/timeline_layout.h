#pragma once

#include <QRect>
#include <QSize>
#include <optional>
#include <span>
#include <vector>

namespace jointer::views {

// A lane of the CPU and one that was measured are lower; a measured one stands close under the
// estimate that it belongs to.
enum class LaneKind : std::uint8_t { host, estimated, measured };

// Where the timeline's parts are: a gutter of names on the left, and beside it from top to bottom a
// legend, the ruler, the memory curve, the lanes, the overview. Lanes scroll where they do not fit.
struct TimelineLayout {
  QRect legend, ruler, memory, lanes, overview;
  std::vector<QRect> lane;  // each lane, scrolled; may lie outside `lanes`
  int gutter = 0;
  int lanes_height = 0;  // of all lanes together

  // `legend_height` is what the legend needs at that width.
  static TimelineLayout make(QSize size, std::span<const LaneKind> kinds, int legend_height,
                             int scroll);

  // Left edge and width of what is drawn on the axis.
  [[nodiscard]] int left() const { return memory.left(); }
  [[nodiscard]] int width() const { return memory.width(); }
  [[nodiscard]] std::optional<std::size_t> lane_at(QPoint point) const;
};

}  // namespace jointer::views
