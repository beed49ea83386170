#pragma once

// Which collectives are FSDP's, as torch tells them from those of other parallelisms, and which
// calls it runs them beside
// (torch/_inductor/fx_passes/bucketing.py).

#include "core/graph/graph.h"
#include "core/graph/users.h"

namespace jointer {

// An all-gather that needs exactly one placeholder: a parameter's shard.
bool is_fsdp_all_gather(const Graph& graph, NodeId start);

// A reduce-scatter whose result goes to the output through nodes that read nothing else.
bool is_fsdp_reduce_scatter(const Graph& graph, const Users& users, NodeId start);

// The same of buckets too, which serve several parameters and gradients, and of gradients that are
// summed over pieces of a batch: an all-gather of what comes from placeholders, and a
// reduce-scatter of what goes to the output, without compute or another such collective between.
// Those of tensor parallelism have activations, which compute makes and reads.
bool gathers_parameters(const Graph& graph, NodeId start);
bool reduces_gradients(const Graph& graph, const Users& users, NodeId start);

// Whether a call computes enough to run collectives beside it: torch 2.15's operators with a
// formula of FLOPs.
bool is_torch_compute(const Graph& graph, NodeId id);

}  // namespace jointer
