#pragma once

#include <QPoint>
#include <optional>
#include <utility>

#include "views/session/open/selection.h"
#include "views/timeline/timeline_scene.h"

namespace jointer::views {

// The item at a position of a timeline.
struct TimelineHit {
  std::optional<std::size_t> row;
  std::optional<LaneRun> run;
  std::optional<std::size_t> point;  // point in the memory profile
};
TimelineHit hit_timeline(const TimelineScene& scene, QPoint at);

// The first and the last pixel column of a range, within the axis.
std::pair<int, int> columns_of(const TimelineScene& scene, TimeRange range);

// Selects what is at a position or, if `toggles`, adds or removes a node, the nodes of a folded run
// or those of a compiled block, or adds the nodes of kernels. A selected range that does not
// contain the position is cleared; so is the whole selection if there is nothing at a position
// between the ruler and the end of the lanes.
void select_at(const TimelineScene& scene, QPoint at, bool toggles);

// The range between two pixel columns, given in either order.
TimeRange range_between(const TimelineScene& scene, int a, int b);

}  // namespace jointer::views
