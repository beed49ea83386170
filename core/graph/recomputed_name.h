#pragma once

#include <string_view>

namespace jointer {

// The suffix of the names of recomputed calls in a flat training step: mm_1_recomputed.
inline constexpr std::string_view kRecomputedSuffix = "_recomputed";

}  // namespace jointer
