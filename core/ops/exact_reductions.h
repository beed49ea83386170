#pragma once

#include <array>
#include <string_view>

namespace jointer {

// Reductions whose results do not depend on the order of the operands.
inline constexpr std::array<std::string_view, 5> kExactReductions{"max", "min", "band", "bor",
                                                                  "bxor"};

}  // namespace jointer
