#pragma once

// Constants shared by PlanOrdered and PlanReserved.

#include <cstddef>

namespace jointer::views {

inline constexpr int kJudgeAfterMs = 120;            // delay after the last change to the plan
inline constexpr std::size_t kRememberedPlans = 24;  // number of plans whose results are cached

}  // namespace jointer::views
