#pragma once

// Finds where FSDP's collectives begin and end in a pipeline stage of graph_trainer.

#include <vector>

#include "core/graph/graph.h"
#include "core/graph/users.h"

namespace jointer {

// The unsharded values that are gathered from a parameter's shard. Each is the last node, not
// counting trailing views, of a chain from the placeholder through an all-gather and its wait to
// the first call with several inputs. Empty if the parameter is not gathered. Error (usage): a
// gather has readers other than one wait.
Result<std::vector<NodeId>> find_unshard_outputs(const Graph& graph, const Users& users,
                                                 NodeId parameter);

// The input of the first reduction in the chain that ends in `gradient`. The chain consists of
// calls with one input each, including reduce-scatters and all-reduces. None if the gradient is not
// reduced.
NodeId find_reduce_input(const Graph& graph, const Users& users, NodeId gradient);

}  // namespace jointer
