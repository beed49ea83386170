#pragma once

// Recognizes FSDP's collectives, telling them from those of other parallelisms as torch does, and
// the calls that torch overlaps with them (torch/_inductor/fx_passes/bucketing.py).

#include "core/graph/graph.h"
#include "core/graph/users.h"

namespace jointer {

// An all-gather that needs exactly one placeholder: a parameter's shard.
bool is_fsdp_all_gather(const Graph& graph, NodeId start);

// A reduce-scatter whose result goes to the output through nodes that read nothing else.
bool is_fsdp_reduce_scatter(const Graph& graph, const Users& users, NodeId start);

// The same for buckets, which serve several parameters or gradients, and for gradients that are
// summed over chunks of a batch: an all-gather of values computed from placeholders, and a
// reduce-scatter of values that reach the output, without compute or another such collective in
// between. Tensor parallelism's collectives move activations, which compute makes and reads.
bool gathers_parameters(const Graph& graph, NodeId start);
bool reduces_gradients(const Graph& graph, const Users& users, NodeId start);

// True if a call computes enough to overlap collectives with it: torch 2.15's operators with a FLOP
// formula.
bool is_torch_compute(const Graph& graph, NodeId id);

}  // namespace jointer
