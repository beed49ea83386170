#pragma once

// Recognizes FSDP's collectives, by the same criteria as torch
// (torch/_inductor/fx_passes/bucketing.py), and the calls that torch overlaps with them.

#include <string_view>

#include "core/graph/graph.h"
#include "core/graph/users.h"

namespace jointer {

// True if the node depends, directly or through other nodes, on exactly one placeholder.
bool depends_on_one_placeholder(const Graph& graph, NodeId id);

// True for an all-gather that depends on exactly one placeholder, presumably a parameter's shard.
bool is_fsdp_all_gather(const Graph& graph, NodeId start);

// True for a reduce-scatter if all nodes that depend on it, except outputs, have a single input.
bool is_fsdp_reduce_scatter(const Graph& graph, const Users& users, NodeId start);

// The reasons why a collective stays separate.
inline constexpr std::string_view kNotFsdpGather =
    "Not FSDP's: it does not depend on exactly one parameter's shard.";
inline constexpr std::string_view kNotFsdpScatter =
    "Not FSDP's: it is not a reduce-scatter, or its result is combined with other values before "
    "the output.";
inline constexpr std::string_view kNoBucketKey =
    "It has several tensors or gathers into a given tensor, or its group has no name.";

// `start` must be an all-gather or a reduce-scatter, respectively. Like is_fsdp_all_gather and
// is_fsdp_reduce_scatter, but also true for buckets, which contain several parameters or gradients,
// and for gradients that are summed over the chunks of a batch. None of the nodes that the gather
// depends on, or that depend on the reduce-scatter, may be compute, an all-gather or a
// reduce-scatter. The collectives of tensor parallelism move activations, which compute nodes
// produce and read.
bool gathers_parameters(const Graph& graph, NodeId start);
bool reduces_gradients(const Graph& graph, const Users& users, NodeId start);

// True if torch overlaps collectives with this call, that is, if torch 2.15 has a FLOP formula for
// its operator.
bool is_torch_compute(const Graph& graph, NodeId id);

}  // namespace jointer
