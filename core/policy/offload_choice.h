#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/layers.h"
#include "core/graph/users.h"
#include "core/partition/step_offload.h"
#include "core/policy/tag_edit.h"

namespace jointer {

// Chooses the saved activations to offload, largest first, within `budget_bytes`. If `budget_bytes`
// is 0 or negative, chooses all candidates. `plan`: the tags before offloading. Returns the
// activations in program order. The algorithm is at the top of offload_choice.cpp.
std::vector<NodeId> choose_offloads(const Graph& graph, const Users& users, const Layers& layers,
                                    const TagPlan& plan, std::int64_t budget_bytes);

// The calls that read a node or its views.
struct StorageReaders {
  std::vector<NodeId> forward;  // calls of the forward
  bool in_backward = false;     // true if a call of the backward is among them
};
StorageReaders storage_readers(const Graph& graph, const Users& users, NodeId node);

}  // namespace jointer
