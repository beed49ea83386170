#pragma once

// Limits that readers enforce, so that a damaged file cannot exhaust the stack or the memory.

#include <cstddef>

namespace jointer {

inline constexpr int kMaxArgumentDepth = 64;  // of nested arguments; real captures reach 3
inline constexpr std::size_t kMaxRank = 64;   // of a tensor

}  // namespace jointer
