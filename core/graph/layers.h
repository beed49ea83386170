#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/module_tree.h"

namespace jointer {

// Finds the layer of a node: the number N in a module path `layers.N...`. Upstream expects `layers`
// at the start of the path; here, `layers` may follow other modules (`model.layers.3`), as in a
// model that was wrapped before the capture.
class Layers {
 public:
  static constexpr std::int64_t kNone = -1;  // outside of layers: embeddings, the head, the loss

  Layers(const Graph& graph, const ModuleTree& modules);

  [[nodiscard]] std::int64_t of(NodeId node) const { return by_node_[node.index()]; }
  // The highest layer number; kNone if there are no layers.
  [[nodiscard]] std::int64_t last() const { return last_; }
  // The number of layers that have nodes.
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::vector<std::int64_t> by_node_;
  std::int64_t last_ = kNone;
  std::size_t count_ = 0;
};

// The layer number in the path; kNone if the path contains no layer.
std::int64_t layer_of_path(std::string_view path);
// The path with `*` for the layer number: "layers.*.attention". A path without a layer is returned
// unchanged.
std::string path_in_any_layer(std::string_view path);
// Returns a number per module that identifies its path in any layer: corresponding modules of
// different layers have the same number.
std::vector<std::uint32_t> number_paths_in_any_layer(const ModuleTree& modules);

}  // namespace jointer
