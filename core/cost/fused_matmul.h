#pragma once

// Reads calls of symm_mem.fused_*: matmuls that are fused with a collective and run in parts. The
// pass async_tensor_parallel creates them. fused_matmul.cpp describes the cost model.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/cost/collective_model.h"
#include "core/graph/graph.h"

namespace jointer {

struct FusedMatmul {
  // A product [rows, k] x [k, columns]. `rows` counts the rows of all ranks.
  struct Product {
    std::int64_t rows = 0, k = 0, columns = 0;
  };
  CollectiveKind collective = CollectiveKind::all_gather;  // or reduce_scatter
  std::int64_t ranks = 1;
  std::int64_t moved_bytes = 0;  // as collective_bytes: the whole tensor
  std::vector<Product> products;
  std::int64_t flops = 0;
  DType dtype = DType::float32;  // of the operands
};

// Returns nullopt for any other operator, or if an operand or a result is missing, or a right
// operand is not a matrix.
std::optional<FusedMatmul> read_fused_matmul(const Graph& graph, const Node& node);

// Returns the placement of the group's ranks: the result of place_group, or all ranks on one node
// if the group is unknown.
GroupPlacement place_fused(const Graph& graph, const Node& node, const FusedMatmul& fused,
                           std::int64_t gpus_per_node);

// Returns the duration of the fused call, given the times that all matmuls and the whole collective
// would take alone.
double pipelined_time(double compute, double collective, std::int64_t ranks);

}  // namespace jointer
