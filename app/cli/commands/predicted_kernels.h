#pragma once

#include <string>

#include "app/cli/commands/options.h"
#include "core/base/torch_version.h"
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"
#include "core/pass/pipeline_text.h"

namespace jointer::cli {

// The kernels that Inductor of this version is predicted to make of a graph, which must not be a
// pair: the same JSON as the answer of `python -m jointer kernels`, without `ms`; `source` is
// "predicted".
// With passes on kernels (passes/kernel_order), the kernels are in the order that these lead to and
// have `ms`, torch's estimate of their time; `passes` has the reports. Error (usage): there is no
// such pass, or its arguments do not fit.
Result<Json> predicted_kernels(const Graph& graph, TorchVersion version, const Pipeline& passes);
// The same for kernels that are known, without passes.
Json kernels_json(const Graph& graph, const kernels::Kernels& made, TorchVersion version);

// "op4_op7", as Inductor names a kernel that computes two ops.
std::string predicted_kernel_name(const kernels::Kernel& kernel);

}  // namespace jointer::cli
