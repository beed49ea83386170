#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace jointer {

// Returns a longest common subsequence of `a` and `b` as pairs (index in a, index in b) of equal
// elements, in ascending order of both indices. If the exact algorithm would take more than about a
// second or more than 128 MB, the result is a common subsequence that may not be the longest. See
// alignment.cpp.
std::vector<std::pair<std::uint32_t, std::uint32_t>> align(std::span<const std::uint32_t> a,
                                                           std::span<const std::uint32_t> b);

}  // namespace jointer
