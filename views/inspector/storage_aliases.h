#pragma once

#include <vector>

#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// Other nodes with tensors in `storage`, in program order, starting from a node with a tensor in
// it. Limited to a few hundred: larger sets are not useful for inspecting one node.
std::vector<NodeId> storage_aliases(const Snapshot& snapshot, NodeId node, StorageId storage);

}  // namespace jointer::views
