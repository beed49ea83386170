#pragma once

#include <QString>
#include <QStringList>
#include <optional>

#include "views/session/snapshot/measured_timeline.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// Text that compares measured numbers with estimated ones.

// Measured divided by estimated, such as "1.08 ×". Empty unless the estimate is positive.
QString ratio_text(std::int64_t measured, std::int64_t estimated);
// "measured 4.10 ms · estimated 3.80 ms (1.08 ×)".
QString times_text(std::int64_t measured_ns, std::int64_t estimated_ns);
QString measured_bytes_text(std::int64_t measured_bytes, std::int64_t estimated_bytes);
// "rank 0, interpret, on AMD EPYC 7763, 2 threads".
QString measurement_text(const Measurement& measurement);

// The estimate to compare with a node's measurement: the stall of a wait, or the duration of any
// other node; for a collective, the duration of the communication.
std::int64_t estimated_ns(const Snapshot& snapshot, NodeId node);
// The measured duration; nullopt if the trace does not show the end of a collective.
std::optional<std::int64_t> measured_ns(const Snapshot& snapshot, const MeasuredNode& node);
// The sum over the nodes that a block replaced, without collectives and copies that run
// asynchronously.
std::int64_t estimated_ns(const Snapshot& snapshot, const MeasuredBlock& block);

// "compiled joint, 512 nodes".
QString block_text(const MeasuredBlock& block);

// Lines for a hover card of the node; empty if neither the node nor a block that contains it was
// measured.
QStringList measured_lines(const Snapshot& snapshot, const MeasuredTimeline& measured, NodeId node);

// Lines for a hover card of a kernel, given its index in Measurement::kernels: its name, duration,
// stream and node, when it ran, and the rates that it or its node reached, if they are known. The
// node must be in the graph.
QStringList kernel_lines(const Snapshot& snapshot, const MeasuredTimeline& measured,
                         std::size_t kernel);

}  // namespace jointer::views
