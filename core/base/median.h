#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace jointer {

// The median; of an even count, the midpoint of the two in the middle. `numbers` must not be empty.
inline std::int64_t median(std::vector<std::int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const std::size_t middle = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[middle]
                                 : std::midpoint(numbers[middle - 1], numbers[middle]);
}

}  // namespace jointer
