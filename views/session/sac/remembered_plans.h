#pragma once

// How PlanOrdered and PlanReserved judge plans.

#include <cstddef>

namespace jointer::views {

inline constexpr int kJudgeAfterMs = 120;            // since the last change of the plan
inline constexpr std::size_t kRememberedPlans = 24;  // whose results are not computed again

}  // namespace jointer::views
