#pragma once

#include <cstdint>
#include <functional>

#include "core/graph/graph.h"

namespace jointer {

// Where a tensor lies instead.
struct StorageMove {
  StorageId to;              // none: it stays
  std::int64_t by = 0;       // elements that are added to its offset
  bool keeps_offset = true;  // else nothing says any more where in the storage it lies
};

// The node's value with its tensors in other storages; everything else about them stays. Costs
// nothing where none moves.
void move_tensors(Graph& graph, NodeId node,
                  const std::function<StorageMove(const Tensor& tensor)>& where);

}  // namespace jointer
