#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace jointer {

// How much slower steps became during a run: the median of the last quarter of iterations relative
// to that of the first quarter, minus 1. A GPU that heats up or reaches its power limit drifts, and
// the median of all steps then depends on the number of iterations. `step_ns`: in order. nullopt
// for fewer than 8 iterations, and if the median of the first quarter is 0.
std::optional<double> step_drift(std::span<const std::int64_t> step_ns);

// Returns true if the drift is large enough to report: at least 5% in either direction.
bool is_significant_drift(double drift);

}  // namespace jointer
