#pragma once

#include <string>

#include "app/cli/commands/options.h"
#include "core/base/torch_version.h"
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"
#include "core/pass/pipeline_text.h"

namespace jointer::cli {

// Predicts the kernels that this version of Inductor generates for a graph that is not a pair.
// Returns the JSON of `python -m jointer kernels`, but without `ms` and `device`; `source` is
// "predicted".
// With passes on kernels (passes/kernel_order), the kernels are in the order after the passes and
// have `ms`, torch's estimate of their time; `passes` contains the reports. Error (usage): there is
// no such pass, or its options are invalid.
Result<Json> predicted_kernels(const Graph& graph, TorchVersion version, const Pipeline& passes);
// Returns this JSON, without passes, for kernels that have already been predicted.
Json kernels_json(const Graph& graph, const kernels::Kernels& made, TorchVersion version);

// "op4_op7", as Inductor names a kernel that computes two ops.
std::string predicted_kernel_name(const kernels::Kernel& kernel);

}  // namespace jointer::cli
