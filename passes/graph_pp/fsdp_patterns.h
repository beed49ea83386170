#pragma once

// Where FSDP's collectives begin and end in a stage of graph_trainer's pipeline parallelism.

#include <vector>

#include "core/graph/graph.h"
#include "core/graph/users.h"

namespace jointer {

// What is made of a parameter's shard when it is gathered: the last node of each chain from the
// placeholder over an all-gather and its wait to the first call of several inputs, views at its end
// left out. Empty: the parameter is not gathered. Error (usage): a gather has no wait of its own.
Result<std::vector<NodeId>> find_unshard_outputs(const Graph& graph, const Users& users,
                                                 NodeId parameter);

// What the first reduction of a gradient's last calls reads: reduce-scatters and all-reduces in a
// chain of one input each that ends in `gradient`. None: the gradient is not reduced.
NodeId find_reduce_input(const Graph& graph, const Users& users, NodeId gradient);

}  // namespace jointer
