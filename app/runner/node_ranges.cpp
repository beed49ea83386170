#include "app/runner/node_ranges.h"

#include <fmt/core.h>

#include <utility>

namespace jointer::runner {

NodeRanges::NodeRanges(const MeasuredProgram& run, ProfilerRanges& ranges) : ranges_(ranges) {
  names_.reserve(run.program.instructions.size());
  for (const Instruction& instruction : run.program.instructions) {
    if (is_compiled(instruction)) {
      names_.push_back(run.program.compiled[instruction.compiled].label);
      continue;
    }
    std::string name(run.graph.name(instruction.node));
    if (is_call(run, instruction))
      name += fmt::format(" {}", run.graph.target(run.graph.node(instruction.node)));
    names_.push_back(std::move(name));
  }
}

}  // namespace jointer::runner
