#pragma once

// Finds tensor-parallel collectives, including the surrounding calls that move the gathered or
// scattered dimension. The comment at the top of tp_patterns.cpp lists the patterns.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "passes/bucketing/fx_program.h"

namespace jointer {

struct GatheredInput {
  NodeId gather;
  NodeId result;         // the whole tensor
  std::int64_t dim = 0;  // the dimension of the gather
  Argument group;
  std::vector<NodeId> calls;  // all calls from the gather to the result
};

struct ScatteredOutput {
  NodeId input;  // the tensor that is summed over the ranks
  NodeId scatter, wait;
  std::int64_t dim = 0;  // the dimension of the scatter
  Argument reduction, group;
  std::vector<NodeId> calls;  // all calls after the input, up to the wait
};

// Both return matches in program order of their last calls. An all-gather is in at most one match;
// as in torch, a reduce-scatter with two waits is in two.
std::vector<GatheredInput> find_gathered_inputs(const Graph& graph, const FxProgram& program);
std::vector<ScatteredOutput> find_scattered_outputs(const Graph& graph, const FxProgram& program);

}  // namespace jointer
