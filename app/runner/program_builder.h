#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/runner/program.h"
#include "core/base/result.h"

namespace jointer::runner {

// Nodes that run as one compiled function, in place of themselves.
struct CompiledRegion {
  std::string label;
  std::vector<NodeId> nodes;    // in program order
  std::vector<NodeId> inputs;   // what the function takes; none of `nodes`
  std::vector<NodeId> outputs;  // what it gives; of `nodes`, or an input that it hands through
  Compiled function;
};

struct BuildOptions {
  at::Device device = at::kCPU;  // takes the place of the graph's main device
  std::span<const CompiledRegion> regions;
  // Attention runs with the chosen kernel (use_attention) and not with the captured one.
  bool chooses_attention = false;
};

// Decides how a graph runs; the rules are at the top of program_builder.cpp. Error (run): operators
// that LibTorch does not have without Python, by name and node. Error (input): a call that does not
// fit its operator.
Result<Program> build_program(const Graph& graph, const BuildOptions& options);

}  // namespace jointer::runner
