#pragma once

#include <algorithm>
#include <vector>

#include "core/graph/effects.h"
#include "core/graph/graph.h"

namespace jointer {

// Finds the storages that are written to, and the last call that writes to each, in the graph's
// current order.
class LastWrites {
 public:
  // `graph` must outlive this object and keep its order.
  explicit LastWrites(const Graph& graph) : graph_(graph) {
    std::vector<NodeId> written;
    for (const NodeId id : graph.order()) {
      written.clear();
      written_arguments(graph, graph.node(id), written);
      if (written.empty()) continue;
      last_.resize(graph.storage_count(), 0);
      writes_.resize(graph.node_count(), false);
      writes_[id.index()] = true;
      for (const NodeId to : written)
        for (const Tensor& tensor : graph.tensors(to))
          if (tensor.storage)
            last_[graph.real_storage(tensor.storage).index()] = graph.position(id) + 1;
    }
  }

  // The other functions may only be called if any() is true.
  [[nodiscard]] bool any() const { return !last_.empty(); }
  [[nodiscard]] bool writes(NodeId id) const { return writes_[id.index()]; }
  // True if a call after `id` writes to `storage`, which must be a real storage.
  [[nodiscard]] bool follow(NodeId id, StorageId storage) const {
    return last_[storage.index()] > graph_.position(id) + 1;
  }
  // The last call that writes to `storage`, which must be a real storage; none if no call does.
  [[nodiscard]] NodeId of(StorageId storage) const {
    const std::size_t end = last_[storage.index()];
    return end == 0 ? NodeId{} : graph_.order()[end - 1];
  }
  // True if a call after `id` writes to a result of `of`.
  [[nodiscard]] bool follow(NodeId id, NodeId of) const {
    return std::ranges::any_of(graph_.tensors(of), [&](const Tensor& tensor) {
      return tensor.storage && follow(id, graph_.real_storage(tensor.storage));
    });
  }

 private:
  const Graph& graph_;
  std::vector<std::size_t> last_;  // by storage: the position of its last write, plus one
  std::vector<bool> writes_;       // by node
};

}  // namespace jointer
