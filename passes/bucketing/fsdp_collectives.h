#pragma once

// Recognizes FSDP's collectives, which are distinguished from those of other parallelisms as in
// torch, and the calls that torch overlaps with them (torch/_inductor/fx_passes/bucketing.py).

#include "core/graph/graph.h"
#include "core/graph/users.h"

namespace jointer {

// True for an all-gather that depends on exactly one placeholder, a parameter's shard.
bool is_fsdp_all_gather(const Graph& graph, NodeId start);

// True for a reduce-scatter whose result reaches the output only through nodes that read nothing
// else.
bool is_fsdp_reduce_scatter(const Graph& graph, const Users& users, NodeId start);

// Like the two functions above, but also for buckets, which serve several parameters or gradients,
// and for gradients that are summed over the chunks of a batch. True for an all-gather of values
// computed from placeholders, and for a reduce-scatter of values that reach the output, if no
// compute and no other such collective is in between. The collectives of tensor parallelism move
// activations, which compute nodes produce and read.
bool gathers_parameters(const Graph& graph, NodeId start);
bool reduces_gradients(const Graph& graph, const Users& users, NodeId start);

// True if a call computes enough to overlap collectives with it, that is, if torch 2.15 has a FLOP
// formula for its operator.
bool is_torch_compute(const Graph& graph, NodeId id);

}  // namespace jointer
