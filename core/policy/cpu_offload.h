#pragma once

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"

namespace jointer {

struct CpuOffloadOptions {
  // Layers of the forward that go by between the last use of a value and the end of its copy to the
  // host, and layers of the backward between the start of the copy back and its first use.
  std::int64_t defer_layers = 1;
  std::int64_t prefetch_layers = 1;
};

// A call of the forward that is tagged MUST_CPU_OFFLOAD.
bool is_tagged_for_offload(const Node& node);

// Upstream's apply_cpu_offload for flat training steps: what is tagged MUST_CPU_OFFLOAD and read by
// the backward spends the time between on the host. How, and after whom, is at the top of
// cpu_offload.cpp. Error (usage): the graph is a pair, a number of layers is negative.
Result<Edit> apply_cpu_offload(const Graph& graph, const CpuOffloadOptions& options = {});

}  // namespace jointer
