#pragma once

// Finds the calls that correspond to each other in identical layers.
//
// Calls of two layers are counterparts if they have the same operator, types and shapes of results,
// module within the layer (`layers.*.attention.wq`), process group and phase, if both or neither
// are recomputed, and if they have the same index among such calls of their layers. If two layers
// have different numbers of such calls, none of these calls are counterparts.

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/layers.h"
#include "core/graph/module_tree.h"

namespace jointer {

class LayerCounterparts {
 public:
  // Uses the graph's current order. Cost: n log n in the number of calls in layers.
  LayerCounterparts(const Graph& graph, const ModuleTree& modules);

  // The layer of a call; Layers::kNone for other nodes, and for calls outside of layers.
  [[nodiscard]] std::int64_t layer_of(NodeId node) const;
  // The call and its counterparts, in ascending order of their layers. Empty if `node` is not a
  // call in a layer.
  [[nodiscard]] std::span<const NodeId> of(NodeId node) const;
  // The element of `of(node)` in that layer, if any.
  [[nodiscard]] NodeId in_layer(NodeId node, std::int64_t layer) const;
  // The numbers of all layers, in ascending order.
  [[nodiscard]] const std::vector<std::int64_t>& layers() const { return layers_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::vector<std::int64_t> layer_by_node_;
  std::vector<std::uint32_t> family_by_node_;
  std::vector<std::vector<NodeId>> families_;
  std::vector<std::int64_t> layers_;
};

}  // namespace jointer
