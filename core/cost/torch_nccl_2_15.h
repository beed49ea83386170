#pragma once

// torch 2.15's analytical estimate of a collective's time: the fastest combination of ring or tree
// with protocol LL, LL128 or SIMPLE. Source: torch/_inductor/comm_analysis.py (based on
// nccl/src/graph/tuning.cc, with corrections that torch calibrated for links between nodes).

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/cost/torch_nccl.h"

namespace jointer {

enum class NcclCall : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, p2p };

// The call that torch recognizes from an operator's name; nullopt if torch's formula does not
// support it.
std::optional<NcclCall> torch_nccl_call(std::string_view target);

// The links of a group as torch models them: fast links inside a node, network links between nodes.
struct NcclLinks {
  NcclGpu gpu = NcclGpu::ampere;
  std::int64_t gpus_per_node = 8;
};

// The time in milliseconds for `bytes` (torch counts input plus output). 0 for a group of one.
double torch_nccl_2_15_ms(std::int64_t bytes, std::int64_t group_size, NcclCall call,
                          const NcclLinks& links);

// The minimum number of bytes at which a collective reaches 90% of its links' bandwidth, according
// to torch's calibrated profiles (InterconnectProfile); 0 for a group of one. Returns nullopt for
// all_to_all and p2p, which have no profile.
std::optional<std::int64_t> torch_saturation_bytes(std::int64_t group_size, NcclCall call,
                                                   const NcclLinks& links);

// Counts bytes like estimate_fx_collective_size in 2.15: like torch_collective_bytes, but includes
// an output that is a list.
std::int64_t torch_collective_bytes_2_15(const Graph& graph, const Node& node);

}  // namespace jointer
