#pragma once

#include "core/base/result.h"
#include "core/capture/compiled_trace.h"
#include "core/compiled/compiled_step.h"
#include "core/graph/graph.h"

namespace jointer {

// The measured times of the kernels predicted for each part of a graph, for analyze_step. Assumes
// that each part was compiled as a whole. A kernel in the C++ function of another one has time 0,
// and a kernel that was not found has none; for a part that is not in the trace, the list of times
// is empty. Cost: that of compile_part and tie_measured for each part. Error (input): the trace
// contains no kernel of any part.
Result<MeasuredKernelTimes> measured_kernel_times(const CompiledTrace& trace, const Graph& graph);

}  // namespace jointer
