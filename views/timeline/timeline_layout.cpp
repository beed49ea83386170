#include "views/timeline/timeline_layout.h"

#include <algorithm>

namespace jointer::views {
namespace {

constexpr int kGutter = 132;
constexpr int kRightMargin = 12;
constexpr int kRuler = 24;
constexpr int kOverview = 40;
constexpr int kGap = 8;
constexpr int kHostLane = 20, kLane = 34, kMeasuredLane = 22, kLaneGap = 4;
constexpr int kLabel = 18, kMinMemory = 92;

int height_of(LaneKind kind) {
  return kind == LaneKind::host ? kHostLane : kind == LaneKind::measured ? kMeasuredLane : kLane;
}

// Distance between a lane and the one above it.
int gap_over(LaneKind kind) {
  return kind == LaneKind::measured ? 1 : kLaneGap;
}

}  // namespace

TimelineLayout TimelineLayout::make(QSize size, std::span<const LaneKind> kinds, int legend_height,
                                    int label_count, int scroll) {
  TimelineLayout layout;
  layout.gutter = kGutter;
  const int width = std::max(size.width() - kGutter - kRightMargin, 1);
  layout.legend = {kGutter, 0, width, legend_height};
  layout.ruler = {kGutter, legend_height, width, kRuler};

  int height = 0;
  for (const LaneKind kind : kinds) height += gap_over(kind) + height_of(kind);
  layout.lanes_height = height;

  const int top = layout.ruler.bottom() + 1;
  const int bottom = std::max(size.height() - kOverview - kGap, top);
  // The curve gets the space that the lanes leave, but at least its minimum.
  const int least = std::min(kMinMemory + label_count * kLabel, bottom - top);
  const int memory = std::max(bottom - top - height - kGap, least);
  const int label = std::min(kLabel, memory / 2 / std::max(label_count, 1));
  for (int row = 0; row < label_count; ++row)
    layout.labels.emplace_back(kGutter, top + row * label, width, label);
  layout.memory = {kGutter, top + label_count * label, width, memory - label_count * label};
  const int lanes_top = top + memory + kGap;
  layout.lanes = {kGutter, lanes_top, width, std::max(bottom - lanes_top, 0)};
  layout.overview = {kGutter, size.height() - kOverview, width, kOverview - 4};

  int y = lanes_top - scroll - kLaneGap;
  for (const LaneKind kind : kinds) {
    y += gap_over(kind);
    layout.lane.emplace_back(kGutter, y, width, height_of(kind));
    y += height_of(kind);
  }
  return layout;
}

QRect TimelineLayout::content() const {
  return {left(), ruler.top(), width(), lanes.bottom() - ruler.top() + 1};
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
