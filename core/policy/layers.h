#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/module_tree.h"

namespace jointer {

// Which layer a node belongs to: N of a module path `layers.N...`. Upstream asks for `layers` at
// the start of the path; here it may follow other modules (`model.layers.3`), as where a model was
// wrapped before it was captured.
class Layers {
 public:
  static constexpr std::int64_t kNone = -1;  // embeddings, norms, the head, the loss

  Layers(const Graph& graph, const ModuleTree& modules);

  [[nodiscard]] std::int64_t of(NodeId node) const { return by_node_[node.index()]; }
  // The greatest, or kNone.
  [[nodiscard]] std::int64_t last() const { return last_; }
  // How many there are.
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::vector<std::int64_t> by_node_;
  std::int64_t last_ = kNone;
  std::size_t count_ = 0;
};

// kNone where the path names no layer.
std::int64_t layer_of_path(std::string_view path);

}  // namespace jointer
