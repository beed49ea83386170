#pragma once

// Measures the times of individual calls.

#include <vector>

#include "app/runner/measure.h"

namespace jointer::runner {

struct TimesOfNodes {
  std::vector<NodeTime> nodes;
  // The kernels of an ordinary step, in order of their start times; empty if the device does not
  // trace kernels.
  std::vector<MeasuredKernel> kernels;
};

// Measures when each call runs in an ordinary step, and how long it takes in isolation. For the
// latter, collectives run one at a time, and each is timed from the moment when all ranks of its
// group have arrived. The times of compiled blocks are written to `blocks`, which is in the order
// of Program::compiled.
StepOr<TimesOfNodes> measure_nodes(const MeasuredProgram& run, std::vector<CompiledBlock>& blocks);

}  // namespace jointer::runner
