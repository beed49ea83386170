#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/runner/program/program.h"
#include "core/base/result.h"

namespace jointer::runner {

// Nodes that one compiled function replaces.
struct CompiledRegion {
  std::string label;            // "joint", "region 2"
  std::vector<NodeId> nodes;    // in program order
  std::vector<NodeId> inputs;   // arguments from outside `nodes`
  std::vector<NodeId> outputs;  // some of `nodes`, or inputs that are returned unchanged
  Compiled function;
};

struct BuildOptions {
  at::Device device = at::kCPU;  // replaces the graph's main device
  std::span<const CompiledRegion> regions;
  // True if attention runs with the chosen kernel (use_attention) instead of the captured one.
  bool chooses_attention = false;
};

// Decides how a graph runs; program_builder.cpp describes the rules. Error (run): the graph calls
// operators that this process does not have for the device (the message names each of them and the
// first node that calls it), or a compiled region depends on its own outputs. Error (input): a call
// does not fit its operator.
Result<Program> build_program(const Graph& graph, const BuildOptions& options);

}  // namespace jointer::runner
