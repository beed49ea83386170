#pragma once

#include <memory>

#include "core/schedule/range_figures.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// Shared by everything that shows the same range (ShownRange::figures).
using RangeFiguresPtr = std::shared_ptr<const RangeFigures>;

inline RangeFiguresPtr range_figures(const Snapshot& snapshot, TimeRange range) {
  return std::make_shared<const RangeFigures>(snapshot.graph, snapshot.analysis, range);
}
inline RangeFiguresPtr whole_step_figures(const Snapshot& snapshot) {
  return range_figures(snapshot, whole_step(snapshot.analysis.simulation));
}

}  // namespace jointer::views
