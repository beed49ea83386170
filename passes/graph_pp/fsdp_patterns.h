#pragma once

// Finds where chains of FSDP's collectives begin and end in graph_trainer's pipeline stages.

#include <vector>

#include "core/graph/graph.h"
#include "core/graph/users.h"

namespace jointer {

// The unsharded values that are gathered from a parameter's shard. Each is the last node, except
// for trailing views, of a chain that leads from the placeholder through an all-gather and its wait
// up to a call with several inputs or a value with several readers. Empty if the parameter is not
// gathered. Error (usage): a gather's wait is not its only reader.
Result<std::vector<NodeId>> find_unshard_outputs(const Graph& graph, const Users& users,
                                                 NodeId parameter);

// The input of the first reduction in the chain that ends in `gradient`. The chain consists of
// calls with one input each, including reduce-scatters and all-reduces. None if the gradient is not
// reduced.
NodeId find_reduce_input(const Graph& graph, const Users& users, NodeId gradient);

}  // namespace jointer
