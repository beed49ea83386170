#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace jointer {

// Which elements of two sequences are the same ones: pairs (index in a, index in b), both growing,
// of equal elements, as many as there can be (a longest common subsequence). Of sequences whose
// comparison would take more than seconds or hundreds of megabytes, a common subsequence that is
// not always a longest one. Described in alignment.cpp.
std::vector<std::pair<std::uint32_t, std::uint32_t>> align(std::span<const std::uint32_t> a,
                                                           std::span<const std::uint32_t> b);

}  // namespace jointer
