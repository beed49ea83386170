#pragma once

#include <QString>
#include <span>

#include "core/schedule/range_figures.h"
#include "views/session/snapshot/measured_timeline.h"
#include "views/session/snapshot/snapshot.h"
#include "views/widgets/inspector_content.h"

namespace jointer::views {

// `measured` is the measurement shown with the estimates, or null.
InspectorContent describe(const Snapshot& snapshot, NodeId node,
                          const MeasuredTimeline* measured = nullptr);
// Describes several nodes by their totals.
InspectorContent describe(const Snapshot& snapshot, std::span<const NodeId> nodes,
                          const MeasuredTimeline* measured = nullptr);

// Describes a range of the step by its totals, as one section.
InspectorSection describe_range(const RangeFigures& figures);

// Arguments as FX prints them, such as `mm_1, 'sum', [1, 2]`. Long text is cut off.
QString arguments_text(const Graph& graph, const Node& node);

}  // namespace jointer::views
