#pragma once

// Statistics of the kernels that a GPU ran.

#include <cstdint>
#include <span>

#include "core/bench/event.h"

namespace jointer {

// The total time during which at least one kernel ran. `kernels` are in order of their start times.
std::int64_t busy_ns(std::span<const MeasuredKernel> kernels);

// True if kernels run for less than 80% of the step: launching them, rather than running them, then
// probably determines the step time.
bool is_bound_by_launches(std::int64_t busy_ns, std::int64_t step_ns);

}  // namespace jointer
