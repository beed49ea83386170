#pragma once

#include "core/base/result.h"
#include "core/capture/compiled_trace.h"
#include "core/compiled/compiled_step.h"
#include "core/graph/graph.h"

namespace jointer {

// The measured times of the kernels that are predicted for a graph that is compiled as a whole, or
// for both halves of a pair, for analyze_step. A kernel in the C++ function of another one has the
// time 0. Cost: that of compile_part. Error (input): no kernel of any part is in the
// trace.
Result<MeasuredKernelTimes> measured_kernel_times(const CompiledTrace& trace, const Graph& graph);

}  // namespace jointer
