#pragma once

#include <memory>

#include "app/runner/kernel_tracer.h"

namespace jointer::runner {

// Starts tracing the kernels of the current thread's CUDA device through torch's profiler (Kineto
// and CUPTI). If the driver or container forbids tracing, no kernels are recorded.
std::unique_ptr<KernelTracer> trace_with_kineto();

}  // namespace jointer::runner
