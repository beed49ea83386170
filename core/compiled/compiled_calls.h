#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/compiled/compiled_part.h"
#include "core/compiled/kernel_times.h"
#include "core/cost/estimator.h"
#include "core/graph/graph.h"
#include "core/schedule/execution.h"

namespace jointer {

// The calls of a graph in the order in which their kernels run, and what they cost. The rules are
// at the top of compiled_calls.cpp.
struct CompiledCalls {
  std::vector<NodeId> order;    // all nodes of the graph, each once
  std::vector<NodeCost> costs;  // by node id; one call of a kernel, usually the first, has its time
  std::vector<NodeId> steps;    // of the memory timeline
  // By part, then by kernel: the index in `steps` at which the kernel runs.
  std::vector<std::vector<std::int32_t>> step_of_kernel;
  // By part: its steps are [begin, end).
  struct Span {
    std::int32_t begin = 0, end = 0;
  };
  std::vector<Span> spans;
};

// `parts`: the graph, or the halves of a pair in their order; with Execution::regional, the regions
// in program order. `times`: by part, kernel_times. `costs`: by node id, in eager mode. Cost:
// linear in the nodes and in the nodes of all kernels.
CompiledCalls compiled_calls(const Graph& graph, std::span<const CompiledPart> parts,
                             std::span<const std::vector<kernels::KernelTime>> times,
                             std::span<const NodeCost> costs, Execution execution);

}  // namespace jointer
