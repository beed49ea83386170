#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/layers.h"
#include "core/graph/users.h"
#include "core/partition/step_offload.h"
#include "core/policy/tag_edit.h"

namespace jointer {

// Chooses the saved activations to offload: the largest first, until `budget_bytes` are used, or
// all candidates if `budget_bytes` is 0 or negative. `plan`: the tags before offloading. Returns
// the activations in program order. The algorithm is at the top of offload_choice.cpp.
std::vector<NodeId> choose_offloads(const Graph& graph, const Users& users, const Layers& layers,
                                    const TagPlan& plan, std::int64_t budget_bytes);

// The readers of a node's memory: the readers of the node and those of its views.
struct StorageReaders {
  std::vector<NodeId> forward;  // calls of the forward
  bool in_backward = false;     // true if a call of the backward reads it too
};
StorageReaders storage_readers(const Graph& graph, const Users& users, NodeId node);

}  // namespace jointer
