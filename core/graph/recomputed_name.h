#pragma once

#include <string_view>

namespace jointer {

// In a flat training step, the end of the name of a call that runs again: mm_1_recomputed.
inline constexpr std::string_view kRecomputedSuffix = "_recomputed";

}  // namespace jointer
