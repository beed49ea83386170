#pragma once

#include <QString>
#include <QStringList>

#include "views/document/snapshot.h"
#include "views/timeline/measured_timeline.h"

namespace jointer::views {

// What was measured beside what was estimated, in words.

// "1.08 ×": how often the estimate fits into what was measured. Empty if nothing was estimated.
QString ratio_text(std::int64_t measured, std::int64_t estimated);
// "measured 0.41 ms · estimated 0.38 ms (1.08 ×)".
QString times_text(std::int64_t measured_ns, std::int64_t estimated_ns);
QString bytes_text_beside(std::int64_t measured_bytes, std::int64_t estimated_bytes);
// "rank 0, interpret, on AMD EPYC 7763, 2 threads".
QString measurement_text(const Measurement& measurement);

// What is estimated of a node, as that which is measured of it: a wait's stall, a collective from
// its start to its end, anything else by itself.
std::int64_t estimated_ns(const Snapshot& snapshot, NodeId node);
std::int64_t measured_ns(const Snapshot& snapshot, const MeasuredNode& node);

// Lines for a card over a node; none if it was not measured.
QStringList measured_lines(const Snapshot& snapshot, const MeasuredTimeline& measured, NodeId node);

}  // namespace jointer::views
