#pragma once

// Finds where FSDP's collectives begin and end in a stage of graph_trainer's pipeline parallelism.

#include <vector>

#include "core/graph/graph.h"
#include "core/graph/users.h"

namespace jointer {

// The values into which a parameter's shard is gathered: the last node of each chain from the
// placeholder through an all-gather and its wait to the first call of several inputs, without
// trailing views. Empty: the parameter is not gathered. Error (usage): a node other than one wait
// reads a gather.
Result<std::vector<NodeId>> find_unshard_outputs(const Graph& graph, const Users& users,
                                                 NodeId parameter);

// The input of the first reduction in the chain that ends in `gradient`: a chain of calls of one
// input each, with reduce-scatters and all-reduces. None: the gradient is not reduced.
NodeId find_reduce_input(const Graph& graph, const Users& users, NodeId gradient);

}  // namespace jointer
