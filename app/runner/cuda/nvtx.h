#pragma once

#include <memory>

#include "app/runner/profiler_ranges.h"

namespace jointer::runner {

// NVTX ranges, and the range that profilers record if they capture cudaProfilerApi. Without a
// profiler, both cost little.
std::unique_ptr<ProfilerRanges> nvtx_ranges();

}  // namespace jointer::runner
