#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/users.h"
#include "core/policy/layers.h"
#include "core/policy/tag_edit.h"

namespace jointer {

// Which saved activations go to the host, the largest first until `budget_bytes` are used; 0 or
// less: all that can. `plan` holds what each node is tagged with before that. In program order. How
// it chooses is at the top of offload_choice.cpp.
std::vector<NodeId> choose_offloads(const Graph& graph, const Users& users, const Layers& layers,
                                    const TagPlan& plan, std::int64_t budget_bytes);

// A view by upstream's list of operators: its memory is another node's.
bool is_offload_view(const Graph& graph, NodeId node);

// What reads the memory of a node: its readers, and through views theirs.
struct StorageReaders {
  std::vector<NodeId> forward;  // calls of the forward
  bool in_backward = false;     // a call of the backward reads it too
};
StorageReaders storage_readers(const Graph& graph, const Users& users, NodeId node);

}  // namespace jointer
