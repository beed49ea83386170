#pragma once

#include <string_view>

namespace jointer {

// The name suffix of recomputed calls in a flat training step, as in mm_1_recomputed.
inline constexpr std::string_view kRecomputedSuffix = "_recomputed";

}  // namespace jointer
