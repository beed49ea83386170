#pragma once

// Measures a program that is ready to run: step times and memory.

#include <functional>

#include "app/runner/groups/process_groups.h"
#include "app/runner/platform.h"
#include "app/runner/profiler_ranges.h"
#include "app/runner/program/interpreter.h"
#include "app/runner/support/reporter.h"
#include "core/base/result.h"
#include "core/bench/event.h"

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

inline bool is_compiled(const Instruction& instruction) {
  return instruction.kind == Instruction::Kind::compiled;
}
// True for a call of the graph, as opposed to a compiled block or an instruction that feeds an
// input.
inline bool is_call(const MeasuredProgram& run, const Instruction& instruction) {
  return !is_compiled(instruction) && run.graph.node(instruction.node).kind == NodeKind::call;
}

// Success, or the error of a step.
using StepResult = tl::expected<void, StepError>;
template <class T>
using StepOr = tl::expected<T, StepError>;

// The peaks of one step and their composition: scratch memory per node, and bytes held between
// calls. The members correspond to those of RankMeasured; `blocks` are in the order of
// Program::compiled, without times.
struct MemoryOfStep {
  MemoryFigures figures;
  std::int64_t resident_peak = 0;
  std::vector<std::int64_t> profile;
  std::vector<NodeScratch> scratch;
  std::vector<CompiledBlock> blocks;
};
StepOr<MemoryOfStep> measure_memory(const MeasuredProgram& run);

// Runs a step so that libraries allocate their workspaces, which later memory figures exclude.
// Returns the bytes of the workspaces, or 0 on the CPU. Waits for the device after every call, so
// that an error is attributed to the right node. `recorded`: true if the steps that follow are
// captured as a CUDA graph, which has its own stream.
StepOr<std::int64_t> make_workspaces(const MeasuredProgram& run, bool recorded);

// Runs `warmup` steps, then returns the nanoseconds of each of `iterations` steps by the device's
// clock. `step` runs one step. No history of allocations is kept in the measured steps. `ranges`:
// if not null, a profiler records the measured steps, each of which is in a range.
StepOr<std::vector<std::int64_t>> measure_steps(const MeasuredProgram& run, int warmup,
                                                int iterations,
                                                const std::function<StepResult()>& step,
                                                ProfilerRanges* ranges = nullptr);

}  // namespace jointer::runner
