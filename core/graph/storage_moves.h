#pragma once

#include <cstdint>
#include <functional>

#include "core/graph/graph.h"

namespace jointer {

// The destination of a tensor.
struct StorageMove {
  StorageId to;              // none if the tensor stays
  std::int64_t by = 0;       // elements to add; if not 0, a symbolic offset becomes unknown
  bool keeps_offset = true;  // if false, the offset becomes unknown
};

// Replaces the node's value with a copy whose tensors are in the storages that `where` returns.
// Does nothing if no tensor moves.
void move_tensors(Graph& graph, NodeId node,
                  const std::function<StorageMove(const Tensor& tensor)>& where);

}  // namespace jointer
