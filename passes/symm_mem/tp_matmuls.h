#pragma once

// Matmuls at the ends of tensor parallelism's collectives.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "passes/bucketing/fx_program.h"

namespace jointer {

// `mm`, or reshape, mm, reshape: a matmul of a tensor with more dimensions. A matmul with scales
// is `_scaled_mm`.
struct TpMatmul {
  std::vector<NodeId> calls;  // in program order
  NodeId product;             // the mm
  NodeId a, b;                // what it multiplies
  bool is_scaled = false;

  [[nodiscard]] NodeId result() const { return calls.back(); }
  [[nodiscard]] bool is_reshaped() const { return calls.size() == 3; }
};

// Readers of a node as torch.fx lists them: whoever had its arguments changed last comes last.
class FxReaders {
 public:
  FxReaders(const Graph& graph, const FxProgram& program);

  [[nodiscard]] std::vector<NodeId> of(NodeId node) const;
  // Its arguments were set.
  void touch(NodeId node);

 private:
  const FxProgram& program_;
  std::vector<std::uint64_t> changed_;  // by node
  std::uint64_t now_ = 0;
};

// Matmuls with `node` on their left, in the order of its readers. Of one with more dimensions the
// second reshape gives what the matmul has: [..., n].
std::vector<TpMatmul> find_consumers(const Graph& graph, const FxReaders& readers, NodeId node);

// The matmul that `node` is the result of.
std::optional<TpMatmul> find_producer(const Graph& graph, NodeId node);

// What else a matmul reads: the right side, and scales.
std::vector<NodeId> other_operands(const Graph& graph, const TpMatmul& matmul);

// An argument of `_scaled_mm`, or none.
Argument scaled_argument(const Graph& graph, const TpMatmul& matmul, std::string_view name);

}  // namespace jointer
