#pragma once

// torch 2.11's analytical estimate of a collective's time, for comparison with ours and with what
// torch's own passes decide by.
// Source: torch/_inductor/comm_analysis.py (after nccl/src/graph/tuning.cc): ring, LL protocol, two
// channels, eight GPUs a node. It takes an H200 for an Ampere; the devices of resources/devices say
// what they really are.

#include <cstdint>
#include <optional>

#include "core/graph/graph.h"

namespace jointer {

enum class NcclGpu : std::uint8_t { volta, ampere, hopper, blackwell };

// Milliseconds for `bytes` (torch counts input plus output). Nothing for a kind that torch's
// formula does not know (broadcast).
std::optional<double> torch_nccl_ms(std::int64_t bytes, std::int64_t group_size,
                                    CollectiveKind kind, NcclGpu gpu);

// estimate_fx_collective_size: input tensors, each time they are named, plus the output; 0 where
// the output is a list. An `out` keyword does not count.
std::int64_t torch_collective_bytes(const Graph& graph, const Node& node);
// Its input tensors alone; none where it is given none.
std::optional<std::int64_t> torch_input_bytes(const Graph& graph, const Node& node);

}  // namespace jointer
