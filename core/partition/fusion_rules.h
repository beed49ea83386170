#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Which neighbours a compiler would run as one kernel, as torch._functorch.partitioners guesses:
// both are of fusible operators; into a concatenation anything fuses, and into a functionalized
// call or Triton kernel what it would write to; nothing fuses with what reads a Triton kernel's
// result. The graph must outlive it.
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
  std::vector<std::uint32_t> tags_;  // by node: its operator's; none of nodes that are no calls
  enum class Special : std::uint8_t { none, concatenation, functionalized, triton_result };
  std::vector<Special> special_;  // by node
};

}  // namespace jointer
