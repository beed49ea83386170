#pragma once

#include <vector>

#include "views/document/snapshot.h"

namespace jointer::views {

// Other nodes whose tensors lie in `storage`, in program order, for a node that has one there. At
// most a few hundred: what has more is no question of one node.
std::vector<NodeId> storage_aliases(const Snapshot& snapshot, NodeId node, StorageId storage);

}  // namespace jointer::views
