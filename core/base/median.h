#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace jointer {

// For an even count, returns the midpoint of the two middle numbers, rounded down. `numbers` must
// not be empty.
inline std::int64_t median(std::vector<std::int64_t> numbers) {
  std::ranges::sort(numbers);
  const std::size_t middle = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[middle]
                                 : std::midpoint(numbers[middle - 1], numbers[middle]);
}

}  // namespace jointer
