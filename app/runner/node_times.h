#pragma once

// The times of single calls.

#include <vector>

#include "app/runner/measure.h"

namespace jointer::runner {

struct TimesOfNodes {
  std::vector<NodeTime> nodes;
  // Those of an ordinary step, in the order of their starts; empty if the device does not trace kernels.
  std::vector<MeasuredKernel> kernels;
};

// Measures when each call runs in an ordinary step, and how long it takes in isolation. For the
// latter, collectives run one at a time, each timed from the moment when all ranks of its group
// have arrived. Compiled blocks, which `blocks` has in the order of Program::compiled, get their
// times there.
StepOr<TimesOfNodes> measure_nodes(const MeasuredProgram& run, std::vector<CompiledBlock>& blocks);

}  // namespace jointer::runner
