#pragma once

// The output of `jointer kernels --source measured`.

#include <string>

#include "app/cli/commands/options.h"
#include "core/base/result.h"
#include "core/base/torch_version.h"
#include "core/graph/graph.h"

namespace jointer::cli {

struct MeasuredRequest {
  std::string trace;      // a torch.profiler trace of compiled steps
  std::string artifacts;  // of the compilation; empty: the kernels are predicted
  std::string device;     // for predicted times; empty: the trace's, or one that fits the graph
  TorchVersion torch;     // for predicted kernels
};

// Ties the calls in the trace to the kernels of a compilation of `part`, or to predicted ones. The
// answer has the members of the source of the kernels, and the measured times
// (docs/command_line.md). Error (input): the trace or the artifacts cannot be read, or the trace
// contains none of the kernels. Other errors: same as make_estimator.
Result<Json> measured_answer(const MeasuredRequest& request, const Graph& graph, PartId part);

void print_measured(const Json& answer);

}  // namespace jointer::cli
