#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace jointer {

// Returns a longest common subsequence of `a` and `b`: pairs (index in a, index in b) of equal
// elements, both indices ascending. If the exact comparison would take seconds or hundreds of
// megabytes, the result is a common subsequence that need not be a longest one. See alignment.cpp.
std::vector<std::pair<std::uint32_t, std::uint32_t>> align(std::span<const std::uint32_t> a,
                                                           std::span<const std::uint32_t> b);

}  // namespace jointer
