#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Predicts which neighbors a compiler fuses into one kernel, as torch._functorch.partitioners
// does: calls of fusible operators with each other; anything into a concatenation; the buffers that
// a call of auto_functionalized or a Triton kernel writes to, into that call. Other readers of an
// element that a Triton kernel returns do not fuse with it. The graph must outlive this object.
class FusionRules {
 public:
  explicit FusionRules(const Graph& graph);

  [[nodiscard]] bool fuse(NodeId producer, NodeId reader) const;
  [[nodiscard]] bool has(NodeId id, OperatorTag tag) const {
    return (tags_[id.index()] & static_cast<std::uint32_t>(tag)) != 0;
  }

 private:
  [[nodiscard]] bool writes_to(NodeId call, NodeId argument) const;

  const Graph& graph_;
  std::vector<std::uint32_t> tags_;  // by node: tags of its operator; 0 if it is not a call
  enum class Special : std::uint8_t { none, concatenation, functionalized, triton_result };
  std::vector<Special> special_;  // by node
};

}  // namespace jointer
