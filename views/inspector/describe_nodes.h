#pragma once

#include <QString>
#include <span>

#include "core/schedule/time_range.h"
#include "views/session/snapshot/measured_timeline.h"
#include "views/session/snapshot/snapshot.h"
#include "views/widgets/inspector_content.h"

namespace jointer::views {

// `measured`: the measurement shown with the estimates, or null.
InspectorContent describe(const Snapshot& snapshot, NodeId node,
                          const MeasuredTimeline* measured = nullptr);
// Totals of several nodes.
InspectorContent describe(const Snapshot& snapshot, std::span<const NodeId> nodes,
                          const MeasuredTimeline* measured = nullptr);

// Totals of a part of the step, as one section.
InspectorSection describe_range(const Snapshot& snapshot, TimeRange range);

// Arguments as FX prints them: `mm_1, 'sum', [1, 2]`.
QString arguments_text(const Graph& graph, const Node& node);

}  // namespace jointer::views
