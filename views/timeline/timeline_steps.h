#pragma once

// Finds the node to go to from the current node of a timeline. Each function returns an invalid id
// if there is none.

#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// The next node along the data flow: forward, a collective's wait or another node's first user;
// backward, a wait's collective or another node's first input.
NodeId next_in_flow(const Snapshot& snapshot, NodeId current, bool forward);

// The neighbor in the current node's lane or, at an end of the lane, the current node itself. If
// there is no current node, or it has no lane: the first node of the compute lane.
NodeId next_in_lane(const TimelineData& data, NodeId current, int direction);

// The next or previous collective with exposed time or, if there is no current node, the first or
// last one.
NodeId next_exposed(const Snapshot& snapshot, NodeId current, int direction);

}  // namespace jointer::views
