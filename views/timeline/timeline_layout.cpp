#include "views/timeline/timeline_layout.h"

#include <algorithm>

namespace jointer::views {
namespace {

constexpr int kGutter = 132;
constexpr int kRightMargin = 12;
constexpr int kRuler = 24;
constexpr int kOverview = 40, kLowOverview = 24;
constexpr int kGap = 8;
constexpr int kLaneGap = 4;
constexpr int kLabel = 18;
constexpr int kMemory = 110, kMinMemory = 48;  // height at which lanes start to shrink; minimum
constexpr int kLow = 340;

// Heights of a lane in pixels.
struct LaneHeight {
  int full = 0, minimum = 0;
};

LaneHeight height_of(LaneKind kind) {
  switch (kind) {
    case LaneKind::host:
      return {20, 10};
    case LaneKind::estimated:
      return {34, 14};
    case LaneKind::measured:
    case LaneKind::kernels:
      return {22, 12};
  }
  return {};
}

// Distance between a lane and the one above it.
int gap_over(LaneKind kind) {
  return kind == LaneKind::measured ? 1 : kLaneGap;
}

// The fraction by which all lanes grow from their minimum to their full heights.
double lane_share(std::span<const LaneKind> kinds, int space) {
  int full = 0, minimum = 0;
  for (const LaneKind kind : kinds) {
    full += gap_over(kind) + height_of(kind).full;
    minimum += gap_over(kind) + height_of(kind).minimum;
  }
  if (full <= space) return 1;
  return std::max(static_cast<double>(space - minimum) / (full - minimum), 0.0);
}

}  // namespace

int TimelineLayout::axis_width(int width) {
  return std::max(width - kGutter - kRightMargin, 1);
}

bool TimelineLayout::is_low(int height) {
  return height < kLow;
}

TimelineLayout TimelineLayout::make(QSize size, std::span<const LaneKind> kinds, Legends legends,
                                    int label_count, int scroll) {
  TimelineLayout layout;
  layout.gutter = kGutter;
  const int width = axis_width(size.width());
  layout.legend = {kGutter, 0, width, legends.memory};
  layout.ruler = {kGutter, legends.memory, width, kRuler};

  const int top = layout.ruler.bottom() + 1;
  const int overview = is_low(size.height()) ? kLowOverview : kOverview;
  const int bottom = std::max(size.height() - overview - kGap - legends.lanes, top);
  const double share = lane_share(kinds, bottom - top - kGap - kMemory - label_count * kLabel);
  std::vector<int> heights;
  for (const LaneKind kind : kinds) {
    const auto [full, minimum] = height_of(kind);
    heights.push_back(minimum + static_cast<int>(share * (full - minimum)));
    layout.lanes_height += gap_over(kind) + heights.back();
  }
  // The curve gets the space that the lanes leave, but at least its minimum.
  const int minimum = std::min(kMinMemory + label_count * kLabel, bottom - top);
  const int memory = std::max(bottom - top - layout.lanes_height - kGap, minimum);
  const int label = std::min(kLabel, memory / 2 / std::max(label_count, 1));
  for (int row = 0; row < label_count; ++row)
    layout.labels.emplace_back(kGutter, top + row * label, width, label);
  layout.memory = {kGutter, top + label_count * label, width, memory - label_count * label};
  const int lanes_top = top + memory + kGap;
  layout.lanes = {kGutter, lanes_top, width, std::max(bottom - lanes_top, 0)};
  layout.lane_legend = {kGutter, bottom, width, legends.lanes};
  layout.overview = {kGutter, size.height() - overview, width, overview - 4};

  int y = lanes_top - scroll - kLaneGap;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    y += gap_over(kinds[i]);
    layout.lane.emplace_back(kGutter, y, width, heights[i]);
    y += heights[i];
  }
  return layout;
}

bool TimelineLayout::is_in_memory(QPoint point) const {
  const QRect area(QPoint(left(), ruler.top()), memory.bottomRight());
  return area.contains(point);
}

std::optional<std::size_t> TimelineLayout::lane_at(QPoint point) const {
  if (point.y() < lanes.top() || point.y() > lanes.bottom()) return std::nullopt;
  for (std::size_t i = 0; i < lane.size(); ++i)
    if (point.y() >= lane[i].top() && point.y() <= lane[i].bottom()) return i;
  return std::nullopt;
}

}  // namespace jointer::views
