#pragma once

#include <vector>

#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// The other nodes with tensors in `storage`, in program order. `node` must have such a tensor. The
// list is limited to a few hundred nodes, since a longer list would not be useful.
std::vector<NodeId> storage_aliases(const Snapshot& snapshot, NodeId node, StorageId storage);

}  // namespace jointer::views
