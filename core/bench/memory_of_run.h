#pragma once

// The options for predicting the memory of a benchmark's ranks.

#include <optional>

#include "core/bench/request.h"
#include "core/bench/result.h"
#include "core/schedule/memory_timeline.h"

namespace jointer {

// The options for a run on devices of type `runs_on`. A rank runs the graph and has no optimizer.
MemoryOptions memory_of_run(const BenchmarkRequest& request, DeviceType runs_on);

// The type of device that the ranks reported; nullopt if none did.
std::optional<DeviceType> device_that_ran(const BenchmarkResult& result);

}  // namespace jointer
