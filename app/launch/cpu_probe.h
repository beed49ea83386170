#pragma once

// Probes the CPU of this machine: runs a graph of a few operators in one rank with all cores and,
// if there are at least two, in two ranks with half of the cores each.

#include <functional>

#include "core/base/result.h"
#include "core/cost/cpu_probe.h"

namespace jointer {

// Blocks for about a second per run, plus the time that ranks need to start. `is_cancelled` may be
// empty. Error (run): a rank failed, or the program that ranks run is missing. Error (cancelled):
// the probe was cancelled.
Result<CpuProbe> probe_cpu(const std::function<bool()>& is_cancelled);

}  // namespace jointer
