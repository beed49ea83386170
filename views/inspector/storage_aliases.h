#pragma once

#include <vector>

#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// The other nodes with tensors in `storage`, in program order. `node` must have one. Limited to a
// few hundred: a longer list is not useful when inspecting one node.
std::vector<NodeId> storage_aliases(const Snapshot& snapshot, NodeId node, StorageId storage);

}  // namespace jointer::views
