#pragma once

// torch 2.15's analytical estimate of a collective's time: the fastest of ring and tree with the
// protocols LL, LL128 and SIMPLE.
// Source: torch/_inductor/comm_analysis.py (after nccl/src/graph/tuning.cc, with corrections that
// torch calibrated for links between nodes).

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/cost/torch_nccl.h"

namespace jointer {

enum class NcclCall : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, p2p };

// What torch takes an operator for, by its name. Nothing for one that its formula does not know.
std::optional<NcclCall> torch_nccl_call(std::string_view target);

// The links of a group as torch sees them: fast ones inside a node, those of the network between
// several.
struct NcclLinks {
  NcclGpu gpu = NcclGpu::ampere;
  std::int64_t gpus_per_node = 8;
};

// Milliseconds for `bytes` (torch counts input plus output). 0 for a group of one.
double torch_nccl_2_15_ms(std::int64_t bytes, std::int64_t group_size, NcclCall call,
                          const NcclLinks& links);

// Bytes from which a collective reaches nine tenths of its links' bandwidth, by torch's calibrated
// profiles (InterconnectProfile). Nothing for all_to_all and p2p, which have none.
std::optional<std::int64_t> torch_saturation_bytes(std::int64_t group_size, NcclCall call,
                                                   const NcclLinks& links);

// estimate_fx_collective_size: as torch_collective_bytes, and an output that is a list counts.
std::int64_t torch_collective_bytes_2_15(const Graph& graph, const Node& node);

}  // namespace jointer
