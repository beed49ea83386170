#pragma once

#include <cstdint>
#include <functional>

#include "core/graph/graph.h"

namespace jointer {

// Where to move a tensor.
struct StorageMove {
  StorageId to;              // none: the tensor stays
  std::int64_t by = 0;       // elements to add to its offset
  bool keeps_offset = true;  // if not, its offset becomes unknown
};

// Gives the node a new value, whose tensors are in the storages that `where` returns and are
// otherwise unchanged. Does nothing if no tensor moves.
void move_tensors(Graph& graph, NodeId node,
                  const std::function<StorageMove(const Tensor& tensor)>& where);

}  // namespace jointer
