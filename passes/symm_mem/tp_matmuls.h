#pragma once

// Finds the matmuls that read or feed tensor parallelism's collectives.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "passes/bucketing/fx_program.h"

namespace jointer {

// An `mm`, or for a tensor of more dimensions: reshape, mm, reshape. A scaled matmul is
// `_scaled_mm`.
struct TpMatmul {
  std::vector<NodeId> calls;  // in program order
  NodeId product;             // the mm
  NodeId a, b;                // the operands: a @ b
  bool is_scaled = false;

  [[nodiscard]] NodeId result() const { return calls.back(); }
  [[nodiscard]] bool is_reshaped() const { return calls.size() == 3; }
};

// Readers of a node in the order of torch.fx: the one whose arguments changed last comes last.
class FxReaders {
 public:
  FxReaders(const Graph& graph, const FxProgram& program);

  [[nodiscard]] std::vector<NodeId> of(NodeId node) const;
  // Records that the arguments of `node` were set.
  void touch(NodeId node);

 private:
  const FxProgram& program_;
  std::vector<std::uint64_t> changed_;  // by node
  std::uint64_t now_ = 0;
};

// Matmuls with `node` on their left, in the order of its readers. For a tensor of more dimensions,
// the second reshape returns the matmul's shape: [..., n].
std::vector<TpMatmul> find_consumers(const Graph& graph, const FxReaders& readers, NodeId node);

// The matmul whose result is `node`.
std::optional<TpMatmul> find_producer(const Graph& graph, NodeId node);

// The other operands of a matmul: the right side, and scales.
std::vector<NodeId> other_operands(const Graph& graph, const TpMatmul& matmul);

// An argument of `_scaled_mm`, or none.
Argument scaled_argument(const Graph& graph, const TpMatmul& matmul, std::string_view name);

}  // namespace jointer
