#pragma once

#include <QPoint>
#include <optional>

#include "views/session/open/selection.h"
#include "views/timeline/timeline_scene.h"

namespace jointer::views {

// The item at a position of a timeline.
struct TimelineHit {
  std::optional<std::size_t> row;
  std::optional<LaneRun> run;
  std::optional<std::size_t> point;  // in the memory profile
};
TimelineHit hit_timeline(const TimelineScene& scene, QPoint at);

// The node that a press there would pick up, if any.
NodeId grip_at(const TimelineScene& scene, QPoint at);

// Selects what is at a position, or toggles a node if `toggles`.
void select_at(const TimelineScene& scene, QPoint at, bool toggles);

// The range between two pixel columns, in any order.
Selection::Stretch stretch_between(const TimelineScene& scene, int a, int b);

}  // namespace jointer::views
