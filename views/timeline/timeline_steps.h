#pragma once

// Finds the way from one node of a timeline to another. Each function returns no node if there is
// none in that direction.

#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// Along the data flow: from a collective to its wait, otherwise to the first user, or back to the
// producer.
NodeId next_in_flow(const Snapshot& snapshot, NodeId current, bool forward);

// The neighbor in the current node's lane. Without one, the first node of the compute lane; beyond
// an end, the current node.
NodeId next_in_lane(const TimelineData& data, NodeId current, int direction);

// The next or previous collective with exposed time. Without a current node, the first or last one.
NodeId next_exposed(const Snapshot& snapshot, NodeId current, int direction);

}  // namespace jointer::views
