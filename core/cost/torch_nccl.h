#pragma once

// torch 2.11's analytical estimate of a collective's time, for comparison with Jointer's own model
// and with the decisions of torch's passes. Source: torch/_inductor/comm_analysis.py (based on
// nccl/src/graph/tuning.cc): ring, LL protocol, two channels, eight GPUs per node. torch treats an
// H200 as an Ampere GPU; resources/devices states the real architecture.

#include <cstdint>
#include <optional>

#include "core/graph/graph.h"

namespace jointer {

enum class NcclGpu : std::uint8_t { volta, ampere, hopper, blackwell };

// The time in milliseconds for `bytes` (torch counts input plus output); 0 for a group of one.
// Returns nullopt for a kind that torch's formula does not support, such as broadcast.
std::optional<double> torch_nccl_ms(std::int64_t bytes, std::int64_t group_size,
                                    CollectiveKind kind, NcclGpu gpu);

// Counts bytes like estimate_fx_collective_size: each occurrence of an input tensor, plus the
// output. 0 if the output is a list or there are no input tensors. Ignores the keyword argument
// `out`.
std::int64_t torch_collective_bytes(const Graph& graph, const Node& node);
// The bytes of the node's input tensors alone; nullopt if it has none.
std::optional<std::int64_t> torch_input_bytes(const Graph& graph, const Node& node);

}  // namespace jointer
