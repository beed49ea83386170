#pragma once

// Computes the keys under which measured times of nodes are stored. Nodes with the same key do the
// same work, even in different graphs.

#include <compare>
#include <cstdint>
#include <string>

#include "core/graph/graph.h"

namespace jointer {

// Appends the key of a node, such as `aten.mm.default(bf16[8,64], bf16[64,64]^1.0)`: the operator,
// then its arguments as written in the graph.
//   Tensors: element type, shape, layout, and the device if it is not the graph's own (`@cpu`). The
//   layout is omitted if it is row-major or unknown. Otherwise, `^1.0` is dense with the dimensions
//   in that order, slowest first (a transposed matrix), `~0.1` has gaps, and a final `*` means
//   expanded (a stride of 0). Layout is part of the work because matrix products choose their
//   kernels by layout, and copies and pointwise kernels lose coalescing in some layouts. The width
//   of gaps matters little and is omitted.
//   Others: integers, booleans, dtypes and strings determine the work (dimensions, reductions).
//   Real and complex numbers, such as a scale or an epsilon, do not, and are written `#`; real
//   exponents of powers are the exception.
void append_work(const Graph& graph, const Node& node, std::string& text);

// The key of a collective. It does not include the reduction (sum, max), whose cost is negligible
// compared with the transfer.
struct CollectiveWork {
  CollectiveKind kind = CollectiveKind::none;
  std::string backend;         // "gloo", "nccl"
  std::int64_t ranks = 1;      // in the group; 1 if their number is unknown
  std::int64_t machines = 1;   // number of machines that the group spans
  std::int64_t bytes = 0;      // collective_bytes
  DType dtype = DType::uint8;  // of the first input

  friend auto operator<=>(const CollectiveWork&, const CollectiveWork&) = default;
};

// Ranks fill machines in order, with `ranks_per_machine` on each. The backend follows from the
// device that the graph runs on.
CollectiveWork collective_work(const Graph& graph, const Node& collective, DeviceType runs_on,
                               std::int64_t ranks_per_machine);

// Parses "cpu" or "cuda"; returns `other` for any other name.
DeviceType parse_device_type(std::string_view name);

}  // namespace jointer
