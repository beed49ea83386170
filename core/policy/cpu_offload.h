#pragma once

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"
#include "core/partition/step_offload.h"

namespace jointer {

// True for a node of the forward that is tagged MUST_CPU_OFFLOAD.
bool is_tagged_for_offload(const Node& node);

// Upstream's apply_cpu_offload for flat training steps. Values that are tagged MUST_CPU_OFFLOAD and
// read in the backward are copied to the host, and back before their first use in the backward.
// Notes count those that must stay on the device instead. The algorithm and its source are at the
// top of cpu_offload.cpp. Error (usage): the graph is neither a flat training step nor a joint
// graph, or a number of layers is negative.
Result<Edit> apply_cpu_offload(const Graph& graph, const CpuOffloadOptions& options = {});

}  // namespace jointer
