#pragma once

// Measures a program that is ready to run: step times, node times, and memory.

#include <functional>

#include "app/runner/groups/process_groups.h"
#include "app/runner/platform.h"
#include "app/runner/program/interpreter.h"
#include "app/runner/support/reporter.h"
#include "core/base/result.h"
#include "core/bench/event.h"
#include "core/bench/request.h"

namespace jointer::runner {

struct MeasuredProgram {
  const Graph& graph;
  const Program& program;
  Interpreter& interpreter;
  Platform& platform;
  ProcessGroups& groups;
  Reporter& reporter;
  StatusWriter& status;
};

// Success, or a step's error.
using StepResult = tl::expected<void, StepError>;
template <class T>
using StepOr = tl::expected<T, StepError>;

// The peaks of one step and what they consist of: scratch memory per node, and bytes held between
// calls. The members are those of RankMeasured; `blocks` follow Program::compiled, without times.
struct MemoryOfStep {
  MemoryFigures figures;
  std::int64_t resident_peak = 0;
  std::vector<std::int64_t> profile;
  std::vector<NodeScratch> scratch;
  std::vector<CompiledBlock> blocks;
};
StepOr<MemoryOfStep> measure_memory(const MeasuredProgram& run);

// Measures `iterations` steps by the device's clock, after `warmup` steps. `step` runs one step.
StepOr<std::vector<std::int64_t>> measure_steps(const MeasuredProgram& run, int warmup,
                                                int iterations,
                                                const std::function<StepResult()>& step);

// Measures when each call runs in an ordinary step, and how long it takes in isolation. For the
// latter, collectives run one at a time, each timed from the moment when all ranks of its group
// have arrived. Compiled blocks, which `blocks` has in the order of Program::compiled, get their
// times there.
StepOr<std::vector<NodeTime>> measure_nodes(const MeasuredProgram& run,
                                            std::vector<CompiledBlock>& blocks);

}  // namespace jointer::runner
