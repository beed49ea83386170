#pragma once

// Collectives of tensor parallelism as a matmul meets them: with the calls around them that bring
// their data into another dimension. Which forms there are is at the top of tp_patterns.cpp.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "passes/bucketing/fx_program.h"

namespace jointer {

struct GatheredInput {
  NodeId gather;
  NodeId result;         // what reads it, reads the whole tensor
  std::int64_t dim = 0;  // that it is gathered along
  Argument group;
  std::vector<NodeId> calls;  // from the gather to the result
};

struct ScatteredOutput {
  NodeId input;  // what is summed over the ranks
  NodeId scatter, wait;
  std::int64_t dim = 0;  // that the sum is scattered along
  Argument reduction, group;
  std::vector<NodeId> calls;  // from behind the input to the wait
};

// Each in program order. A collective is in one of them at most.
std::vector<GatheredInput> find_gathered_inputs(const Graph& graph, const FxProgram& program);
std::vector<ScatteredOutput> find_scattered_outputs(const Graph& graph, const FxProgram& program);

}  // namespace jointer
