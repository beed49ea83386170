#pragma once

// Measuring a program that is ready to run.

#include <functional>

#include "app/runner/groups/process_groups.h"
#include "app/runner/interpreter.h"
#include "app/runner/platform.h"
#include "app/runner/reporter.h"
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

// A step that went wrong.
using StepResult = tl::expected<void, StepError>;
template <class T>
using StepOr = tl::expected<T, StepError>;

// Peaks of one step, beside how they come about: scratch by node, what is held between calls.
struct MemoryOfStep {
  MemoryFigures figures;
  std::int64_t resident_peak = 0;
  std::vector<std::int64_t> profile;
  std::vector<NodeScratch> scratch;
};
StepOr<MemoryOfStep> measure_memory(const MeasuredProgram& run);

// Times of `iterations` steps by the device's clock, after `warmup` steps. `step` runs one.
StepOr<std::vector<std::int64_t>> measure_steps(const MeasuredProgram& run, int warmup,
                                                int iterations,
                                                const std::function<StepResult()>& step);

// When each call runs in an ordinary step, and what it takes by itself: collectives one at a time,
// from when all ranks of their group have arrived.
StepOr<std::vector<NodeTime>> measure_nodes(const MeasuredProgram& run);

}  // namespace jointer::runner
