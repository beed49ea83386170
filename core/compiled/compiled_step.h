#pragma once

// The training step as it is executed: operator by operator, or as kernels that Inductor makes of
// it. The kernels are predicted (core/kernels), by the rules of the torch that made the graph.
//
// A compiled step is an Analysis of the same graph, so everything that shows an analysis shows it.
// Nodes run in the order of their kernels; one call of a kernel, usually the first, has the
// kernel's time (compiled_calls.h). Memory is that of the compiled program (compiled_lives.h).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/compiled/compiled_part.h"
#include "core/compiled/kernel_times.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer {

// The predicted kernels of a compiled step. Analysis::compiled refers to it.
struct CompiledStep {
  // The graph, or the halves of a pair; with Execution::regional, the regions in program order.
  std::vector<CompiledPart> parts;
  std::vector<std::vector<kernels::KernelTime>> times;  // by part, then by kernel
};

// Measured times of kernels. core/capture/measured_step.h finds them in a trace.
struct MeasuredKernelTimes {
  std::string source;  // "trace.json"
  // By part of the graph, then by kernel in the order of compile_part. Kernels without a time keep
  // their estimate.
  std::vector<std::vector<std::optional<std::int64_t>>> ns;
};

// Error (usage): the graph cannot be executed in this mode; the message says why, and what to do.
Result<void> check_execution(const Graph& graph, Execution execution);

// The analysis of a graph that is executed as `options.execution` says. A graph without marked
// calls has no regions, and runs operator by operator with Execution::regional. Errors: same as
// `make_estimator`. Error (cancelled): `is_cancelled`, which may be empty, returned true. Cost:
// that of `analyze` and, unless operators run one by one, of predicting the kernels. `measured`:
// null, or times of this graph's kernels, which replace estimates; ignored with Execution::eager,
// and must be null with Execution::regional.
Result<Analysis> analyze_step(const Graph& graph, const AnalysisOptions& options,
                              const MeasuredKernelTimes* measured = nullptr,
                              const std::function<bool()>& is_cancelled = {});

// Describes how the step runs: "one kernel per operator", "kernels as predicted for ...".
std::string execution_text(const Graph& graph, Execution execution);

}  // namespace jointer
