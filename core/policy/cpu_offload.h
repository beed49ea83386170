#pragma once

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"

namespace jointer {

struct CpuOffloadOptions {
  // `defer_layers`: number of forward layers between a value's last use and the end of its copy to
  // the host. `prefetch_layers`: number of backward layers between the start of the copy back and
  // the first use there. Neither may be negative.
  std::int64_t defer_layers = 1;
  std::int64_t prefetch_layers = 1;
};

// True for a forward call that is tagged MUST_CPU_OFFLOAD.
bool is_tagged_for_offload(const Node& node);

// Upstream's apply_cpu_offload for flat training steps: copies values that are tagged
// MUST_CPU_OFFLOAD and read by the backward to the host after their last use in the forward, and
// back before their first use in the backward. The algorithm and its source are at the top of
// cpu_offload.cpp. Error (usage): the graph is a pair, or a number of layers is negative.
Result<Edit> apply_cpu_offload(const Graph& graph, const CpuOffloadOptions& options = {});

}  // namespace jointer
