#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/capture/compiled_kernels.h"
#include "core/graph/graph.h"

namespace jointer {

// The kernels of a compiled program, tied by name to the calls of one part of a graph.
struct TiedKernels {
  std::vector<std::vector<NodeId>> nodes;  // by kernel, each in program order; views are left out
  std::vector<std::size_t> untied;         // kernels without a call in the graph
  std::vector<std::string> unknown;        // names of kernels' nodes that match no call, each once
  // Calls of the graph that no kernel computes, in program order. Views, getitem and calls whose
  // result nothing uses are left out.
  std::vector<NodeId> without_kernel;
  std::size_t tied_calls = 0;  // calls in at least one kernel
};

// Looks up a kernel's nodes in the post-grad graph by name and operator, unless the program is
// retraced. If the graph has none of them, looks up the nodes in the graph before Inductor's passes
// and then, for an Inductor kernel, those that the comment above the call names. Cost: near linear.
TiedKernels tie_kernels(const CompiledProgram& program, const Graph& graph, PartId part);

// Returns the index of the program whose kernels have the most calls of `part`. A program of the
// other half is chosen only if all are. If several have equally many calls, one that is not of
// another rank is preferred, then the first one. `programs` must not be empty.
std::size_t best_program(std::span<const CompiledProgram> programs, const Graph& graph,
                         PartId part);

}  // namespace jointer
