#pragma once

// Matmuls that run together with a collective, part by part: symm_mem.fused_*, which
// async_tensor_parallel makes. The model is at the top of fused_matmul.cpp.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/cost/collective_model.h"
#include "core/graph/graph.h"

namespace jointer {

struct FusedMatmul {
  // One [rows, k] x [k, columns], of all ranks' rows.
  struct Product {
    std::int64_t rows = 0, k = 0, columns = 0;
  };
  CollectiveKind collective = CollectiveKind::all_gather;  // or reduce_scatter
  std::int64_t ranks = 1;
  std::int64_t moved_bytes = 0;  // as collective_bytes: the whole tensor
  std::vector<Product> products;
  std::int64_t flops = 0;
  DType dtype = DType::float32;  // of what is multiplied
};

// Nothing for another operator, or where sizes do not fit.
std::optional<FusedMatmul> read_fused_matmul(const Graph& graph, const Node& node);

// Where its ranks sit: as place_group; all on one node where the group is not known.
GroupPlacement place_fused(const Graph& graph, const Node& node, const FusedMatmul& fused,
                           std::int64_t gpus_per_node);

// From what all matmuls and the whole collective would take alone.
double pipelined_time(double compute, double collective, std::int64_t ranks);

}  // namespace jointer
