#pragma once

// Finds the matmuls before and after tensor-parallel collectives.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "passes/bucketing/fx_program.h"

namespace jointer {

// An `mm`, or a reshape of the left operand, an mm and a reshape of its result. A scaled matmul has
// `_scaled_mm` instead of mm.
struct TpMatmul {
  std::vector<NodeId> calls;  // in program order
  NodeId product;             // the mm
  // The operands: a @ b. With reshapes, `a` is the tensor before the first one, except that the `a`
  // of a scaled matmul is always the operand of `_scaled_mm`.
  NodeId a, b;
  bool is_scaled = false;

  [[nodiscard]] NodeId result() const { return calls.back(); }
  [[nodiscard]] bool is_reshaped() const { return calls.size() == 3; }
};

// The node at this index of the positional arguments; none if there is no such argument, or if it
// is not a node.
NodeId node_argument(const Graph& graph, NodeId call, std::size_t at);

// The readers of a node in torch.fx's order: by the time of the last change to their arguments.
class FxReaders {
 public:
  FxReaders(const Graph& graph, const FxProgram& program);

  [[nodiscard]] std::vector<NodeId> of(NodeId node) const;
  // Records that the arguments of `node` changed.
  void touch(NodeId node);

 private:
  const FxProgram& program_;
  std::vector<std::uint64_t> changed_;  // by node
  std::uint64_t now_ = 0;
};

// The matmuls that read `node` or a reshape of it, as either operand, in the order of the node's
// readers. After a reshape, a second one must restore the leading dimensions of `node`: [..., n].
std::vector<TpMatmul> find_consumers(const Graph& graph, const FxReaders& readers, NodeId node);

// The matmul whose result is `node`; std::nullopt if there is none.
std::optional<TpMatmul> find_producer(const Graph& graph, NodeId node);

// The nodes that a matmul reads besides the left operand: the right one and, if it is scaled, its
// scales and its bias.
std::vector<NodeId> other_operands(const Graph& graph, const TpMatmul& matmul);

// An argument of `_scaled_mm`; the none argument if it is not given.
Argument scaled_argument(const Graph& graph, const TpMatmul& matmul, std::string_view name);

}  // namespace jointer
